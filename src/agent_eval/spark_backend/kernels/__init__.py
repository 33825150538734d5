"""Compiled kernels: products with packed weights and the decode step, for builds that compute on a CPU."""
