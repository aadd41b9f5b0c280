"""The sections of a report, each a function that returns numbers and sentences as a dict.

Every section has ``available`` and ``words``; one that cannot be made has the reason in ``words``.
"""

from __future__ import annotations

#: The sections that a decision needs, in order: key in the summary, heading on the page.
DECISION = {
    "comparison": "Who errs how often",
    "people": "People",
    "items": "Items to look at first",
}
#: Those for an analyst, which are folded on the page.
ANALYSIS = {
    "label_statistics": "Sensitivity, kappa and other statistics",
    "exchange": "Errors corrected and introduced",
    "reliability": "Is the stated confidence right?",
    "confusion": "Which classes people confuse",
    "temperature": "The model's temperature",
    "learning_curve": "Would more truth labels help?",
    "independence": "Do human and model err together?",
    "accuracy_bound": "Theoretical lower bound",
    "methods": "Methods side by side",
    "method": "Method and settings",
}
#: All sections of a report.
SECTIONS = DECISION | ANALYSIS
