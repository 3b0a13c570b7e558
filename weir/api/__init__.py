"""The Python interface: what `import weir` offers.

    with weir.Project("museum") as project:
        project.run()
        project.answers["exhibits"].current().to_pandas()

It runs and reads a project as the command line does, by the same functions, and returns Arrow
tables, dataclasses and errors instead of printing them.
"""
