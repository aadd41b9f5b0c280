"""What commands that measure honesty share: their options, and stated chances by bins."""

import argparse
import warnings
from itertools import pairwise

import numpy as np

TENTHS = np.arange(11) / 10


def repeats_and_seed(doc, *, repeats, seed):
    """The options ``--repeats`` and ``--seed`` of a command, by its docstring; warnings are ignored from here on."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=repeats)
    parser.add_argument("--seed", type=int, default=seed)
    warnings.simplefilter("ignore")
    return parser.parse_args()


def print_bins(words, said, came, *, edges=TENTHS, others=None):
    """Stated chances by bin, each named by where it begins, and how often they came.

    others  other numbers of each fit by name, whose means are printed too
    """
    said, came = np.asarray(said), np.asarray(came)
    print(f"{words}, {len(said)} fits")
    for low, high in pairwise(edges):
        here = (low <= said) & ((said < high) | (high == edges[-1]))
        if here.any():
            more = "".join(f"  {name} {values[here].mean():+.4f}" for name, values in (others or {}).items())
            means = f"said {said[here].mean():.3f}  came {came[here].mean():.3f}{more}"
            print(f"  from {low:.2f} {here.sum():5} fits  {means}")
