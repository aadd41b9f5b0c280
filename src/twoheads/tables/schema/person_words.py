"""Words in the names of columns that mean a person who answers; other languages are without accents."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Words with blanks between them."""
    return frozenset(text.split())


PERSON_WORDS = words("""
    human reader readers rater raters annotator annotators reviewer reviewers doctor dr radiologist expert coder
    labeler labeller worker workers user users person people moderator physician observer grader dermatologist leser
    befunder radiologe radiologin arzt arztin gutachter experte bewerter lecteur lectrice radiologue medecin
    annotateur evaluateur lector lectora radiologo radiologa medico anotador evaluador lettore annotatore valutatore
    leitor avaliador beoordelaar lezer radioloog 読影者 医師 评估者 医生 读片者
""")
