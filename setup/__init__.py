"""Set-up of a fresh machine; standard library only, run by the Python that was there before."""
