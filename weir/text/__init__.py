"""Text for people: escaping, hiding secrets, suggesting names, progress lines."""
