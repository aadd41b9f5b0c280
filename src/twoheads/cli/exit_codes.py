"""The exit codes of the command line."""

OUTPUT_CLOSED = 1
MISTAKE = 2
INTERRUPTED = 130
