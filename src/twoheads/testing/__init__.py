"""Contract checks for classes of your own: plain functions that raise an AssertionError."""

from twoheads.testing.stores import check_store

__all__ = ["check_store"]
