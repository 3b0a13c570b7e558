"""Where the files of a lake are: in a folder, or in an object store of which a folder is a copy."""
