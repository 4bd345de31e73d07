"""Whether a target has anything to learn."""

from __future__ import annotations

from tawt.errors import DataError


def nothing_to_learn(name: str, label: str, instead: str = "") -> DataError:
    """The error of a target whose training examples all have one label: any model is right.

    Args:
        name: Of the target.
        label: As it is shown.
        instead: What to give to have another label read, if that is known.

    Example:
        >>> print(nothing_to_learn("ner", "'s'", "`tag_column: 2`"))
        Task 'ner': every training example of the target has the label 's' and no other, so there \
is nothing to learn and every score would be perfect. If another label is meant, give \
`tag_column: 2`; if a `limit` left one label over, raise it.
    """
    return DataError(
        f"Task {name!r}: every training example of the target has the label {label} and no other, "
        "so there is nothing to learn and every score would be perfect. If another label is "
        f"meant, give {instead or 'that'}; if a `limit` left one label over, raise it."
    )
