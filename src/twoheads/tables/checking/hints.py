"""Words in the names of columns, and of classes, that speak for a role."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ITEM = _words("""
    item id ids image img images case cases study patient file filename path accession doc document url uuid task sample
    record key nr no number index row subject series scan
""")
TRUTH = _words("""
    truth true gold golden ground gt reference ref target correct consensus biopsy pathology histology outcome actual
    real adjudicated
""")
PERSON = _words("""
    human reader readers rater raters annotator annotators reviewer reviewers doctor dr radiologist expert coder labeler
    labeller worker workers user users person people moderator physician observer grader dermatologist
""")
MODEL = _words("""
    ai model score scores prob probs probability probabilities p pred prediction predicted proba cnn net network resnet
    vgg bert gpt llm algorithm machine cad classifier judge logit logits softmax ml claude gemini llama
""")
SCORE = _words("score scores logit logits prob probability p proba likelihood risk")
CONFIDENCE = _words("confidence conf certainty sure sureness confident")
ANSWER = _words("answer answers label labels annotation response choice rating verdict")
GROUP = _words("""
    site hospital sex gender age group centre center scanner region language country source batch split fold view
    category type vendor department race ethnicity year
""")
#: Names of the class that high scores mean, the surest first.
POSITIVE = ("positive", "abnormal", "yes", "true", "1", "pos", "malignant", "toxic", "spam", "defect", "present")
