"""This process: its output, signals, address space, exit, and messages of native libraries."""
