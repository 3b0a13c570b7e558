"""Files that people write: their text, YAML with places, and what is wrong with a value.

An error names the file, the line and the column, and the key that was probably meant.
"""
