"""The exit codes of the command line."""

OUTPUT_CLOSED = 1
MISTAKE = 2
#: Codes above this one are those of signals, 130 for Ctrl-C.
INTERRUPTED_ABOVE = 128
