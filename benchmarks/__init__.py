"""What fitting and predicting cost, and how good combinations are on real sets."""

from pathlib import Path

#: Where the sets are if a command is not told.
DATA = Path(__file__).parents[2] / "shared" / "data"
