"""Mathematics as pure functions of arrays: no state, no input or output, no checks.

Arrays that hold a number for every class of every item are class-major, ``(n_classes, n_items)``, so that each
NumPy operation runs along the items; a block of items that fits the processor's cache is handled at a time.
"""
