"""What a project declares: definitions of several kinds, as values that all stages read.

`catalog` reads them on demand, `kinds` says which there are, `definition` what each has. A kind has
a module with the keys of its front matter, its body and its reader; all kinds share one front
matter (`front_matter`), one fingerprint (`fingerprint`) and one cache of what was compiled.
"""
