"""Text that people see: what may be printed, what is secret, which name was probably meant."""
