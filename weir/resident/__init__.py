"""A process that runs again and again, and keeps warm what it needs.

A *round* is one run, or a look that finds nothing to do: `rounds` decides which. It looks at the
stamps of files (`stamps`) before it opens anything. A signal ends the process after the stage that
is going on (`stopping`).
"""
