"""A small study of corpora on disk: a target, a source like it, and one unlike it."""

import json

import yaml

from tawt.config import load
from tawt.errors import Interrupted
from tawt.runs.run import Options, run
from tests.corpora.files import sentences, write_lines, write_records

OTHERS = ("0101", "2233", "4455", "zz", "qq", "xx", "99")
TIMES = {"began", "seconds"}


class CorpusStudy:
    """A configuration, and its files beside it; tokenised text is kept elsewhere."""

    def __init__(self, folder, **values):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.path = folder / "study.yaml"
        self.values = {
            "name": "corpora",
            "data": {
                "kind": "corpora",
                "window": 24,
                "cache": str(folder.parent / "cache"),
                "corpora": {},
            },
            "target": "goal",
            "model": {"layers": 1, "width": 16, "heads": 2},
            "paradigm": "sources only",
            "epochs": 2,
            "target_epochs": 1,
            "training": {
                "batch_size": 8,
                "learning_rate": 0.01,
                "sampling": "mixed",
                "steps": 24,
                "update_every": 4,
                "gradient_examples": 8,
            },
            **values,
        }
        self.text("near", train=sentences(60, seed=1))
        self.text("far", train=sentences(60, seed=2, words=OTHERS))
        self.text(
            "goal",
            train=sentences(20, seed=3),
            dev=sentences(12, seed=4),
            test=sentences(15, seed=5),
        )

    def text(self, name, **splits):
        """Add a corpus of lines."""
        for split, texts in splits.items():
            write_lines(self.folder / f"{name}.{split}.txt", texts)
        self.values["data"]["corpora"][name] = {split: f"{name}.{split}.txt" for split in splits}
        return self.write()

    def records(self, name, records, **fields):
        """Add a corpus of JSON lines to train on."""
        write_records(self.folder / f"{name}.jsonl", records)
        self.values["data"]["corpora"][name] = {"train": f"{name}.jsonl", **fields}
        return self.write()

    def set(self, name, value):
        """Change a value by its dotted name."""
        *path, last = name.split(".")
        values = self.values
        for key in path:
            values = values.setdefault(key, {})
        values[last] = value
        return self.write()

    def write(self):
        self.path.write_text(yaml.safe_dump(self.values, sort_keys=False, allow_unicode=True))
        return self

    @property
    def config(self):
        return load(self.path)


class After:
    """Says stop after so many questions, once."""

    def __init__(self, count):
        self.left = count

    def __call__(self):
        self.left -= 1
        return self.left == 0


def resumed(study, path, *, stop):
    """The record of a run that was stopped on its way, and gone on with."""
    try:
        run(study.config, path, should_stop=After(stop))
    except Interrupted:
        assert not (path / "record.json").exists()
        return run(study.config, path, options=Options(resume=True))
    raise AssertionError("the run was not stopped")


def said(record):
    """All of a record but what a clock says."""
    return {key: value for key, value in record.items() if key not in TIMES}


def contents(folder):
    """Every file of a run but those with times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("record.json", "report.html")
    }


def bits(line):
    """Bits a byte of a line of `tawt predict --output jsonl`."""
    return json.loads(line)["bits_per_byte"]
