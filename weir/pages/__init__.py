"""Pages for people: HTML files without scripts or external resources, with their charts."""
