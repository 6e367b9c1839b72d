"""Exact similarities and distances, one file each."""
