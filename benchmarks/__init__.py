"""What fitting and predicting cost, and how good combinations are on real sets."""

from pathlib import Path

#: Where the sets are if a command is given no folder.
DATA = Path(__file__).parents[2] / "shared" / "data"
