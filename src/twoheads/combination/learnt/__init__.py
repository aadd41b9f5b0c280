"""The items whose truth a team has learnt from, and how they are recognised: no team is judged on them as held out."""

from twoheads.combination.learnt.absent_members import MembersAtFit
from twoheads.combination.learnt.learnt_items import LearntItems
from twoheads.combination.learnt.recognised import Recognised

__all__ = ["LearntItems", "MembersAtFit", "Recognised"]
