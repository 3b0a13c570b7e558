"""Whether what the lake holds is still right, and what can be rebuilt where it is not."""
