"""How often ``annotator_stats_``, the numbers that users see, covers people's accuracies."""

import numpy as np
from scipy.stats import beta

import twoheads as th

LEVEL = 0.9


def team_of(data):
    return th.recommended(class_prior="model" if data.proba is not None else "learn")


def stated(data, seen, y, accuracy, used):
    """Held, and the mean width over that of the labelled items alone, where there are any."""
    stats = team_of(data).fit(seen, y).annotator_stats_
    place = np.array(stats["annotator"], dtype=int)
    low, high = np.empty(len(accuracy)), np.empty(len(accuracy))
    low[place], high[place] = stats["accuracy_low"], stats["accuracy_high"]
    used = used & np.isin(np.arange(len(accuracy)), place)
    held = (low <= accuracy + 1e-12) & (accuracy <= high + 1e-12)
    width = alone(seen, y, len(accuracy)) if y is not None else np.ones(len(accuracy))
    return held[used].mean(), (high - low)[used].mean() / width[used].mean()


def alone(seen, y, n_people):
    """The width of Jeffreys' interval on the labelled answers alone, (n_people,)."""
    item = np.repeat(np.arange(len(seen)), seen.answers.per_item())
    column = seen.answers.column[seen.answers.column >= 0]
    person, answer = np.divmod(column, seen.n_classes)
    person, known = np.array(seen.annotators, dtype=int)[person], y[item] >= 0
    count = np.bincount(person[known], minlength=n_people)
    right = np.bincount(person[known], answer[known] == y[item][known], n_people)
    low, high = (beta.ppf(tail, right + 0.5, count - right + 0.5) for tail in (0.05, 0.95))
    return high - low


def stated_claims(data, seen, labelled, accuracy, used):
    """With the truth of some items and the others without."""
    y = np.full(len(data.truth), -1)
    y[labelled] = data.truth[labelled]
    return stated(data, seen, y, accuracy, used)


def stated_with_all(data, seen, accuracy, used, rng, fresh):
    """With the truth of every item: as they are, or drawn with replacement to cover the accuracy of the whole set."""
    drawn = np.arange(len(data.truth)) if fresh else rng.integers(0, len(data.truth), len(data.truth))
    return stated(data, seen.take(drawn), data.truth[drawn], accuracy, used)


def stated_without(data, seen, accuracy, used):
    """Without any truth; the claim is that of what is believed."""
    return stated(data, seen, None, accuracy, used)
