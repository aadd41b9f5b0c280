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


def print_bins(words, stated, observed, *, edges=TENTHS, others=None):
    """Stated chances by bin, each named by where it begins, and how often what they are of was observed.

    others  other numbers of each fit by name, whose means are printed too
    """
    stated, observed = np.asarray(stated), np.asarray(observed)
    print(f"{words}, {len(stated)} fits")
    for low, high in pairwise(edges):
        here = (low <= stated) & ((stated < high) | (high == edges[-1]))
        if here.any():
            more = "".join(f"  {name} {values[here].mean():+.4f}" for name, values in (others or {}).items())
            means = f"stated {stated[here].mean():.3f}  observed {observed[here].mean():.3f}{more}"
            print(f"  from {low:.2f} {here.sum():5} fits  {means}")
