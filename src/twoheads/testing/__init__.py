"""Contracts that a class of your own must keep, as functions that raise AssertionError where it does not."""
