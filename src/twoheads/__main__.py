"""``python -m twoheads``: the command line."""

from twoheads.cli import main

main()
