"""Two stages about remotes: `stage` makes the rounds that are due, `check` checks the new ones."""
