"""Programs of plain LARS from their definitions: they share no code with the project."""
