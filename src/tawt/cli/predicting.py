"""What `tawt predict` does: lines in, answers out."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, TypeAlias

from tawt import files
from tawt.cli import console
from tawt.errors import ConfigError, DataError, RunError, is_out_of_memory
from tawt.modality.predicting import json_line
from tawt.runs.predicting import load_predictor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tawt.modality import Answer

STANDARD_INPUT = "-"
Form: TypeAlias = Literal["tsv", "jsonl"]


@dataclass(frozen=True, kw_only=True)
class Writing:
    """How answers are written."""

    form: Form
    probabilities: bool

    def line(self, answer: Answer) -> bytes:
        """The answer, as it goes out: UTF-8 wherever it goes."""
        if self.form == "jsonl":
            return json_line(answer, probabilities=self.probabilities).encode()
        return answer.tsv(probabilities=self.probabilities).encode()


def chosen_form(form: Form | None, *, as_json: bool) -> Form:
    """How answers are written.

    Args:
        form: What `--output` says.
        as_json: Whether `--json` was given.

    Raises:
        ConfigError: The two say different things.

    Example:
        >>> chosen_form(None, as_json=False), chosen_form(None, as_json=True)
        ('tsv', 'jsonl')
    """
    if as_json and form == "tsv":
        raise ConfigError("--json writes JSON lines, and --output tsv a table; leave one out.")
    return "jsonl" if as_json else form or "tsv"


def predict_file(
    run: Path,
    source: str,
    *,
    target: str | None,
    form: str | None,
    output: Path | None,
    writing: Writing,
    device: str,
    batch_size: int,
    quiet: bool,
) -> None:
    """Answer every example of a file, or of standard input, in order."""
    if output is not None and output.is_dir():
        raise ConfigError(f"--out must be a file; {output} is a folder.")
    if source == STANDARD_INPUT and sys.stdin is None:
        raise ConfigError("FILE is - for standard input, but that is closed; name a file.")
    typed = source == STANDARD_INPUT and sys.stdin.isatty()  # a person waits for each answer
    with _memory_watched(batch_size), _opened(source) as (handle, path):
        predictor = load_predictor(
            run, target=target, device=device, batch_size=batch_size, buffer=1 if typed else 1024
        )
        if writing.probabilities and not predictor.has_probabilities:
            raise ConfigError(
                f"The answers of a {predictor.task_kind} task have no probabilities; leave "
                "--probabilities out."
            )
        asked = predictor.read(handle, path=path, form=form, typed=typed)
        lines = (writing.line(answer) for answer in predictor.answers(asked))
        if output is None:
            _print(lines, at_once=typed)
        else:
            _write(lines, output, quiet=quiet)


@contextlib.contextmanager
def _memory_watched(batch_size: int) -> Iterator[None]:
    """Where memory runs out, say which option of this command lowers it."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise RunError(
            f"Out of memory. Lower --batch-size ({batch_size}), or use --device cpu."
        ) from error


@contextlib.contextmanager
def _opened(source: str) -> Iterator[tuple[BinaryIO, Path]]:
    if source == STANDARD_INPUT:
        yield sys.stdin.buffer, Path("<stdin>")
        return
    path = Path(source)
    try:
        if path.is_fifo() and not path.is_relative_to("/dev") and not path.is_relative_to("/proc"):
            # What the shell's `<(…)` names has a writer; a pipe by a name of its own may have none,
            # and opening it would wait for one.
            raise DataError(f"{path} is a pipe; redirect it: tawt predict RUN - < {path}")
        handle = path.open("rb")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    with handle:
        yield handle, path


def _print(lines: Iterable[bytes], *, at_once: bool) -> None:
    out = sys.stdout.buffer
    safe = sys.stdout.isatty()
    for line in lines:
        out.write(console.plain_lines(line.decode()).encode() if safe else line)
        if at_once:
            out.flush()
    out.flush()


def _write(lines: Iterable[bytes], path: Path, *, quiet: bool) -> None:
    try:
        with files.whole(path) as file, console.progress(quiet=quiet) as bar:
            shown = bar.add_task("answered", total=None)
            for line in lines:
                file.write(line)
                bar.advance(shown)
    except OSError as error:
        raise RunError(
            f"Could not write {path}: {error.strerror or error}. What was there before is intact."
        ) from error
