"""This process: its output, its signals, its address space, messages of native libraries."""
