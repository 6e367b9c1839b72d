"""Turns the loops of `likewise.kernels` into machine code, and keeps it: decorators, stores of object code, the loader, and compilation by Numba."""
