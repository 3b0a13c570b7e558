"""The benchmark: stage times and bytes of real runs, beside recomputing everything."""
