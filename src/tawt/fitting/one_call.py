"""From data to a trained model, without a configuration."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.best import best
from tawt.best.result import MODEL
from tawt.config import load
from tawt.config.drafting import drafted
from tawt.config.fold import FoldConfig
from tawt.errors import ConfigError
from tawt.fitting.fitted import Fitted
from tawt.fitting.placing import check_names, source_groups, target_group
from tawt.runs import Options, RunFolder, run
from tawt.text.drafting import settings_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.config import RunConfig
    from tawt.config.drafting import Draft

CONFIG, DATA = "fit.yaml", "data"
_UPDATES = "training.update_every"
_FEWEST_UPDATES = 10


def fit(
    *,
    target: Any,
    sources: Any,
    test: Any = None,
    encoder: str | None = None,
    budget: str | None = None,
    seed: int = 0,
    device: str = "auto",
    folder: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Fitted:
    """Train a model for a target, with other labelled data that may help.

    A small target is trained on after the sources, whose weights are learned: what `tawt init`
    and then `tawt train` would do with these data. With a budget it is what `tawt best` does.

    Data are files (or a folder with the splits of one task), or rows: a pair (texts, labels); a
    list of (text, label), of (tokens, tags), of ((text, second text), label), or of dictionaries;
    columns by name; a data frame; a dataset. Splits may be given by name:
    `{"train": …, "dev": …, "test": …}`.

    Args:
        target: The data that count, to train on.
        sources: Other data, by name; or a list of files.
        test: Data of the target to score on; without them the model is trained on all the target
            has, and there are no scores.
        encoder: A name on the Hugging Face hub, a folder, or `package:NAME`; a small English one
            by default.
        budget: A time, such as "30m", or a number of candidates, such as "12": try ways to use the
            sources, and take the best, or the target alone where none is better.
        seed: Of every random choice.
        device: "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
        folder: Holds the run, its page and its model; a temporary one by default, that is removed
            with what is returned. The same call goes on with what is in it.
        settings: Other values of a configuration by dotted name, such as
            `{"training.learning_rate": 5e-5}`.

    Returns:
        The model, with weights, findings and scores.

    Raises:
        TawtError: Data cannot be read, do not fit together, or are too few.
    """
    with ExitStack() as held:
        path = Path(tempfile.mkdtemp(prefix="tawt-")) if folder is None else Path(folder)
        if folder is None:
            held.callback(shutil.rmtree, path, ignore_errors=True)
        made = _drafted(target, sources, test, path)
        files.write(path / CONFIG, made.text)
        changes = {"seed": seed, **_for_encoder(encoder, path), **(settings or {})}
        config = _with_all_to_train_on(load(path / CONFIG, changes), made, has_budget=bool(budget))
        if _UPDATES not in changes:
            config = _with_enough_updates(config, made)
        fitted = _trained(config, made, path, budget=budget, device=device)
        held.pop_all()
        if folder is None:
            weakref.finalize(fitted, shutil.rmtree, path, ignore_errors=True)
        return fitted


def _drafted(target: Any, sources: Any, test: Any, folder: Path) -> Draft:
    meant = target_group(target, test, folder / DATA)
    others = source_groups(sources, folder / DATA)
    check_names(meant, others)
    made = drafted([meant, *others], meant, out=folder / CONFIG)
    if made.kind != "text":
        raise ConfigError(
            f"This is for text with labels, and the target {meant.name!r} is none (it is read as "
            f"{made.kind}). Where it has labels, name them `label`; else use `tawt init`."
        )
    return made


def _for_encoder(encoder: str | None, folder: Path) -> dict[str, Any]:
    """What the encoder needs, where it is not the usual one."""
    if encoder is None:
        return {}
    usual: Any = load(folder / CONFIG).model
    name = str(Path(encoder).resolve()) if Path(encoder).is_dir() else encoder
    return settings_for(name, max_length=usual.max_length)


def _with_all_to_train_on(config: RunConfig, made: Draft, *, has_budget: bool) -> RunConfig:
    """The configuration with no example kept back that nobody asked to have kept back."""
    if "test" in made.target.sizes:
        return config
    data: Any = config.data
    task = data.tasks[made.target.name].model_copy(update={"held_out": {}})
    tasks = {**data.tasks, made.target.name: task}
    changes: dict[str, Any] = {"data": data.model_copy(update={"tasks": tasks})}
    if "dev" not in made.target.sizes and not has_budget:
        changes["fold"] = FoldConfig()
    return config.model_copy(update=changes)


def _with_enough_updates(config: RunConfig, made: Draft) -> RunConfig:
    """The configuration with some updates of the weights, even where there are few steps."""
    examples = config.epochs * sum(source.sizes["train"] for source in made.sources)
    steps = config.training.steps or examples // config.training.batch_size
    usual = config.training.update_every or steps
    every = max(1, min(usual, steps // _FEWEST_UPDATES))
    return config.model_copy(update={"training": replace(config.training, update_every=every)})


def _trained(
    config: RunConfig, made: Draft, folder: Path, *, budget: str | None, device: str
) -> Fitted:
    options = Options(device=device, resume=True)
    if budget is None:
        path, found = folder / "run", None
        run(config, path, options=options)
    else:
        found = best(config, folder / "best", budget=budget, options=Options(device=device))
        path = folder / "best" / MODEL
    # What was said of examples to be held out is not so.
    notes = [note for note in made.remarks if "held out" not in note]
    record = RunFolder(path).record()
    return Fitted(run=path, record=record, found=found, notes=notes, device=device)
