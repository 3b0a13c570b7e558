"""Files that people write: reading text and YAML, and describing wrong values.

An error names the file, the line and the column, and the key that was probably meant.
"""
