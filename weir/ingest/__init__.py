"""From pending change sets to committed epochs, one step of it per module."""
