"""The exit codes of the command line."""

from __future__ import annotations

NOT_WRITTEN = 1
MISTAKE = 2
#: Codes above this one are those of signals, 130 for Ctrl-C.
INTERRUPTED_ABOVE = 128

#: What each code means, for the help.
MEANINGS = {
    "0": "done",
    "1": "the reader of the output has closed it, or an error of twoheads itself, with a traceback",
    "2": "an error in the command line, in the data or on the disk, with one sentence on stderr that says what to do",
    "130": "interrupted by Ctrl-C; 128 and its number for any other signal (143 for SIGTERM, 129 for SIGHUP)",
}
