"""Child processes that read what others wrote, with nothing that they can lose.

A `Child` (child.py) is started here alone: its environment has no variable of its parent, it
imports nothing of the folder in which it starts, and it takes no more than its `ChildLimits`
(limits.py), which it sets on itself before its `main` answers messages (serving.py). Both sides
speak in frames (frames.py); a child that ends early has a `Death` with its true cause (death.py).
"""
