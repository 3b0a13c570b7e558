"""A stream beside a SPARQL endpoint, through the DAGs."""
