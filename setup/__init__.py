"""Set-up of a new machine; standard library only, as it runs before anything is installed."""
