"""Items that are kept beside a team, by id, so that it can be fitted again when more is known of them."""

from __future__ import annotations

import re
from pathlib import Path

#: The end of the name of the folder beside a team, and the name of a folder in it: a fingerprint.
KEPT_SUFFIX = ".items"
FINGERPRINT = re.compile(r"[0-9a-f]{32}")


def is_of_kept_items(folder: Path) -> bool:
    """Whether a folder holds the files of kept items, by its name and that of the folder above it."""
    return folder.parent.name.endswith(KEPT_SUFFIX) and FINGERPRINT.fullmatch(folder.name) is not None
