"""Queries over streams: two times, legs and corrections."""
