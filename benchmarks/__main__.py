"""``python -m benchmarks``: what each step costs, as a ratio within one run; printed, and kept as JSON."""

from benchmarks.cost import main

main()
