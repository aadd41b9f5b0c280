"""Mathematics as pure functions of arrays: no state, no input or output, no checks.

Arrays with a number for every class of every item are class-major, ``(n_classes, n_items)``, so that NumPy's loops run
along the items. A function takes one block of items, which fits the processor's cache.
"""
