"""The constants of every prior of a team, in one place; classes and kernels take their defaults from here.

Those of intervals and of class shares at hand are beside their formulas, in `twoheads.kernels.inference`; what items
weigh beside labels is beside the kernels that use them.
"""

from __future__ import annotations

#: Mean and standard deviation of the log of a model's temperature: most models are over-confident.
LOG_TEMPERATURE_MEAN, LOG_TEMPERATURE_SD = 0.5, 0.5

#: Smallest scale of a log temperature's prior in the dependence stage: a temperature that is held fixed.
HELD_SD = 1e-3
#: Scale around a log temperature that EM has estimated from items with several answers.
AFTER_EM_SD = 0.2
#: Mean and scale of what is left of a log temperature once another calibrator has calibrated the model.
CALIBRATED_MEAN, CALIBRATED_SD = 0.0, 0.25
#: The same for several models together, each of them calibrated.
POOL_SD = 0.4
#: Standard deviation of the log of a model's weight in a pool, around equal weights.
LOG_WEIGHT_SD = 0.7

#: Mean and standard deviation of the correlation r between the evidence of the model and that of the people.
PARTNER_CORRELATION_MEAN, PARTNER_CORRELATION_SD = 0.3, 0.25
#: Standard deviations that the bias of each class may have (0: no bias), and their prior probabilities.
BIAS_SD: tuple[float, ...] = (0.0, 0.3, 1.0)
BIAS_WEIGHT: tuple[float, ...] = (0.7, 0.25, 0.05)
#: Mean and standard deviation of the logit of the correlation between answers on one item.
LOGIT_CORRELATION_MEAN, LOGIT_CORRELATION_SD = -0.85, 1.0
#: Labels that the mean number of answers on all items is worth, beside that on the labelled items.
MEAN_ANSWERS_LABELS = 10.0
#: How far people and machines that answer about one item are two groups, not one: mean and standard deviation.
SEPARATION_MEAN, SEPARATION_SD = 0.5, 0.5
#: Correlation between answers on one item inside EM. The full correction there ruins the intervals of accuracies.
EM_CORRELATION = 0.1
#: Agreement beyond chance (kappa) below which both are smaller in proportion, the answers that this guess is worth, and
#: the least factor.
EVIDENT_AGREEMENT, AGREEMENT_ANSWERS, LEAST_CORRELATION = 0.2, 50.0, 0.01

#: Weight of EM's soft counts, in labels, where there is no truth and about one answer per item.
AGREEMENT_LABELS = 10.0

#: Prior of what a team wins over a partner, relative to what its probabilities expect: standard deviation with many
#: labels, labels with which its variance doubles, degrees of freedom, and the standard deviation per item that only one
#: of the two got right.
REALISED_SD, REALISED_LABELS, REALISED_FREEDOM, REALISED_PER_ITEM = 0.45, 60.0, 3.0, 0.2
#: What it wins, in items, where the labelled items show nothing, and the standard deviation of that.
UNSEEN_GAIN, UNSEEN_SD = 0.08, 0.3
#: What it wins more over people with many answers on an item, and over the model beside them.
SEVERAL_GAIN = 0.4
#: Pseudo-counts of labelled items that only one of two partners got right: few labels do not show which is better.
ONLY_ONE_RIGHT = 8.0

#: Beta prior of an annotator's accuracy over all classes: pseudo-counts of right and of wrong answers.
ACCURACY_RIGHT, ACCURACY_WRONG = 3.0, 1.0
#: Median of the weight of a crowd's accuracies around their mean, in answers, and standard deviation of its log.
ACCURACIES_STRENGTH, ACCURACIES_LOG_SD = 10.0, 1.5
#: Median of the strength of a matrix's columns, in answers, and standard deviation of its log.
COLUMN_STRENGTH, COLUMN_LOG_SD = 15.0, 1.2
#: How many times harder than the evidence says the columns of the matrix of one person are shrunk to each other.
ONE_MATRIX_SHRINKAGE = 3.0
#: Median of the standard deviation of abilities, and standard deviation of its log.
SPREAD_MEDIAN, SPREAD_LOG_SD = 0.5, 1.0
#: Median of the strength of a person's columns around the crowd's, in answers, and standard deviation of its log.
PERSON_STRENGTH, PERSON_LOG_SD = 30.0, 1.5

#: Medians of the strength of levels (of confidence or scores) and of "unsure", and standard deviation of their logs.
LEVELS_STRENGTH, UNSURE_STRENGTH, RESPONSE_LOG_SD = 100.0, 30.0, 1.5

#: Standard deviation of the extra log temperature at which a model predicts people's answers, around 0.
ANSWER_TEMPERATURE_SD = 0.5
#: Mean and standard deviation of the realised gain of an answer over the expected one, and the largest factor.
GAIN_FACTOR_MEAN, GAIN_FACTOR_SD, LARGEST_GAIN_FACTOR = 1.0, 1.0, 1.2

#: Standard deviations of a panel's factor on the left-out log posterior, around 1, and of its bias of each class.
PANEL_SLOPE_SD, PANEL_INTERCEPT_SD = 0.2, 0.2
#: Standard deviations that the weights of a panel's members may have. They are over the design effect: one member among
#: twenty decides alone with a weight of about 7.
PANEL_SCALES: tuple[float, ...] = (0.1, 0.2, 0.35, 0.6, 1.0, 1.6, 2.5, 4.0, 6.3)
#: Standard deviation of the log of that scale, around 0.
PANEL_LOG_SCALE_SD = 0.7
#: Prior probability that members need no weights of their own.
PANEL_UNCHANGED = 0.1

#: Power of the majority's class shares, the prior of the classes of a crowd without a model.
MAJORITY_POWER = 0.75
#: Labels that this prior, or another guess of class shares, may be worth; each is as likely. On eight public crowds the
#: majority's shares were worth 14 to 860, the median 55.
SHARES_STRENGTHS: tuple[float, ...] = (20.0, 60.0, 200.0)
