"""Review before a run: what the files of a project say, and what a run would do by them.

Files are checked as a whole, with hints for what is probably not meant; the answer of a text, and
what an edit of it would gain and lose, are computed from the newest graph. Nothing is written to
the lake, and no claim is taken, so that a run may be at work meanwhile.
"""
