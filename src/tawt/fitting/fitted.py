"""A model that was trained in one call, and what came of it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tawt.errors import DataError, RunError
from tawt.runs.models import MODEL
from tawt.runs.predicting import load_predictor
from tawt.text.predicting.unlabelled import Sentence, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tawt.best import BestResult
    from tawt.modality import Predictor

_ANSWER = {"tagging": "tags"}  # `label` for other kinds


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The model of a target, trained with sources."""

    run: Path
    """The folder of the run that trained it."""
    record: Mapping[str, Any] = field(repr=False)
    """Of that run."""
    found: BestResult | None = field(default=None, repr=False)
    """What `tawt best` found, where there was a budget."""
    notes: Sequence[str] = field(default=(), repr=False)
    """What was noticed about the data before training."""
    device: str = field(default="auto", repr=False)

    @property
    def target(self) -> str:
        """The name of the target."""
        return str(self.record["target"])

    @property
    def weights(self) -> dict[str, float]:
        """The learned weight of each source; they sum to one.

        With a budget, those of all sources, whether the model uses them or not.
        """
        if self.found is not None:
            known = {each.name: each.weight for each in self.found.sources}
            return {name: weight for name, weight in known.items() if weight is not None}
        shares = {
            name: share for name, share in self.record["weights"].items() if name != self.target
        }
        total = sum(shares.values())
        return {name: share / total for name, share in shares.items()}

    @property
    def findings(self) -> dict[str, str]:
        """Of each source whether it `helps`, `hurts`, or one `cannot tell`."""
        if self.found is not None:
            return {each.name: each.verdict for each in self.found.sources}
        return {name: str(each["verdict"]) for name, each in self.record["findings"].items()}

    @property
    def scores(self) -> dict[str, float]:
        """On the test examples, by metric; none where there are none."""
        return dict(self.record["scores"][self.target].get("test", {}))

    @property
    def warnings(self) -> list[str]:
        """What a person would want to know before trusting the model."""
        remarks = [] if self.found is None else self.found.remarks
        return list(dict.fromkeys([*self.notes, *remarks, *self.record["warnings"]]))

    def predict(self, texts: Iterable[Any]) -> list[Any]:
        """What the model says of each text.

        Args:
            texts: Texts; pairs of texts; or, for tagging, lists of words.

        Returns:
            A label (as text, such as "1"), a number, or a list of tags for each, in order; of a
            blank text none.

        Raises:
            DataError: Of something else.
        """
        kind = self.predictor.task_kind
        asked = [_build_input(text, kind) for text in texts]
        name = _ANSWER.get(kind, "label")
        return [
            answer.record(probabilities=False)[name] for answer in self.predictor.answers(asked)
        ]

    @cached_property
    def predictor(self) -> Predictor:
        """The model itself, whose answers have probabilities too."""
        return load_predictor(self.run, device=self.device)

    def save(self, folder: str | Path) -> Path:
        """Leave the model in a folder, in Hugging Face's form, which loads without tawt.

        Args:
            folder: Empty, or not there yet.

        Returns:
            The folder.

        Raises:
            RunError: It holds something.
        """
        path = Path(folder)
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise RunError(f"{path} is not empty; give another folder.")
        try:
            shutil.copytree(self.run / MODEL, path, dirs_exist_ok=True)
        except OSError as error:
            raise RunError(f"Could not write {path}: {error.strerror or error}.") from error
        return path

    def __str__(self) -> str:
        metric = str(self._metric)
        score = self.scores.get(metric)
        lines = ["no test examples" if score is None else f"{metric} {score:.3f} on test"]
        for name, weight in sorted(self.weights.items(), key=lambda item: -item[1]):
            verdict = self.findings.get(name)
            lines.append(f"{name}: weight {weight:.2f}{f', {verdict}' if verdict else ''}")
        return "\n".join(lines)

    @property
    def _metric(self) -> str:
        metric = self.record["metric"]
        return str(metric[self.target] if isinstance(metric, dict) else metric)


def _build_input(text: Any, kind: str) -> Sentence | Text:
    if kind == "tagging":
        if not isinstance(text, str):
            return Sentence(tuple(map(str, text)))
        raise DataError(f"The model tags words, so it needs lists of them; got {text!r:.60}.")
    if isinstance(text, str):
        return Text(text)
    if kind == "pair" and len(text) == 2:
        return Text(str(text[0]), str(text[1]))
    raise DataError(f"The model needs texts; got {text!r:.60}.")
