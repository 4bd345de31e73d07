"""The labelled sets: how each is scored, and what others report of it, on all of its data."""

from __future__ import annotations

from dataclasses import dataclass

STANCES = tuple(
    f"tweet_stance_{topic}" for topic in ("abortion", "atheism", "climate", "feminist", "hillary")
)
POOLED = "tweet_stance"
"""The five together, as the literature has them."""


@dataclass(frozen=True)
class LabelledSet:
    """What is known of a set, or of the five on stance."""

    metric: str
    labels: tuple[str, ...] | None
    """Those whose F1 is averaged; all by default."""
    published: str


SETS = {
    "acl_arc": LabelledSet("macro F1", None, "about 64 (BERT-base), 71 (SciBERT)"),
    "scierc": LabelledSet("macro F1", None, "about 75 (BERT-base), 80 (SciBERT)"),
    "chemprot": LabelledSet("micro F1", (), "about 79 (BERT-base), 84 (SciBERT)"),
    "sci_cite": LabelledSet("macro F1", None, "about 85 (BERT-base, SciBERT)"),
    "tweet_irony": LabelledSet("F1 of irony", ("irony",), "59.7 (RoBERTa-base), 82.1 (BERTweet)"),
    "tweet_emotion": LabelledSet("macro F1", None, "76.1 (RoBERTa-base), 79.3 (BERTweet)"),
    POOLED: LabelledSet(
        "mean of F1 of favor and against, over five",
        ("favor", "against"),
        "68.0 (RoBERTa-base), 71.2 (BERTweet)",
    ),
}
TARGETS = (*(name for name in SETS if name != POOLED), *STANCES)


def set_of(target: str) -> str:
    """What the scores of a target are pooled under.

    Example:
        >>> set_of("tweet_stance_climate"), set_of("acl_arc")
        ('tweet_stance', 'acl_arc')
    """
    return POOLED if target in STANCES else target
