"""SERVICE in random queries: cases and laws."""
