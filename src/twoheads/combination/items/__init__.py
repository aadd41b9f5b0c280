"""Items to fit on, wherever they are: in memory, in chunks on disk or on a cluster, or in a saved sample."""

from twoheads.combination.items.chunked import ChunkedItems
from twoheads.combination.items.chunking import spill_to_disk
from twoheads.combination.items.in_memory import InMemoryItems
from twoheads.combination.items.open import fits_in_memory, open_items
from twoheads.combination.items.protocol import CountableItems, Items, Schema
from twoheads.combination.items.sampled import SampledItems

__all__ = [
    "ChunkedItems",
    "CountableItems",
    "InMemoryItems",
    "Items",
    "SampledItems",
    "Schema",
    "fits_in_memory",
    "open_items",
    "spill_to_disk",
]
