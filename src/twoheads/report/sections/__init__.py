"""The sections of a report, each a function that returns numbers and sentences as a dict.

Every section has ``available`` and ``words``; one that cannot be made has the reason in ``words``.
"""

from __future__ import annotations

#: The sections of a report in order: key in the summary, heading on the page.
SECTIONS = {
    "comparison": "Error of each",
    "exchange": "Errors corrected and introduced",
    "reliability": "Is the stated confidence right?",
    "confusion": "Which classes people confuse",
    "people": "People",
    "temperature": "The model's temperature",
    "learning_curve": "Would more truth labels help?",
    "independence": "Do human and model err together?",
    "accuracy_bound": "Theoretical lower bound",
    "items": "Items to look at first",
    "method": "Method and settings",
}
