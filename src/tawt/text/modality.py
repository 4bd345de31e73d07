"""Text in files as a kind of data.

What needs transformers is imported when it is first called for: a configuration must be checked
without seconds of waiting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from tawt.errors import inside
from tawt.text.any_text import TextModality
from tawt.text.placing import placed
from tawt.text.sections import ENDINGS, FILES_WANTED, EncoderConfig, TextData
from tawt.text.sources import UnlabelledTexts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tawt.modality import Section
    from tawt.modality.recognising import Drafted, FileGroup, Recognised
    from tawt.tasks import Task
    from tawt.text.kinds import TaskOptions
    from tawt.text.reading import Splits


class TextFiles(TextModality[TextData]):
    """Tasks in text files."""

    name = "text"
    data_section = TextData
    groups_wanted: ClassVar[str] = (
        "a field (`fields: {group: NAME}`), or marks between its documents"
    )
    dev_wanted: ClassVar[str] = "some (as `dev`, or a share of `train` by `held_out`)"
    files_wanted: ClassVar[str] = FILES_WANTED
    endings: ClassVar[tuple[str, ...]] = ENDINGS

    def task_names(self, data: TextData) -> list[str]:
        """Those of the section."""
        return list(data.tasks)

    def read(
        self, data: TextData, name: str, *, is_target: bool, held_out: bool, seed: int
    ) -> Splits:
        """From the task's files."""
        from tawt.text.building import read_task

        del is_target
        with inside("data", "tasks", name, saying=f"Task {name!r}: "):
            return read_task(data.labelled[name], held_out=held_out, seed=seed)

    def unlabelled(self, data: TextData) -> UnlabelledTexts:
        """As the section says."""
        return UnlabelledTexts(data.unlabelled, cache=data.cache)

    def task_kind(self, data: TextData, name: str) -> str:
        """As the section says."""
        return data.tasks[name].kind

    def task_options(self, data: TextData, name: str) -> TaskOptions:
        """Labels, metric and head, where the section says which."""
        from tawt.text.kinds import TaskOptions

        task = data.labelled[name]
        return TaskOptions(
            labels=task.labels, metric=task.metric, positive=task.positive, head=task.head
        )

    def instead(self, data: TextData, name: str) -> str:
        """Another column or field of the file."""
        from tawt.text.building import other_columns

        return other_columns(data.labelled[name])

    def field_names(self, data: TextData, name: str) -> Mapping[str, str]:
        """As the section says."""
        return data.labelled[name].fields

    def placed(
        self, data: TextData, model: EncoderConfig, folder: Path
    ) -> tuple[TextData, EncoderConfig]:
        """Files are relative to the folder, and so is an encoder."""
        labelled: dict[str, Section] = {
            name: task.model_copy(
                update={
                    "folder": placed(task.folder, folder),
                    "train": placed(task.train, folder),
                    "dev": placed(task.dev, folder),
                    "test": placed(task.test, folder),
                }
            )
            for name, task in data.labelled.items()
        }
        others = {
            name: task.model_copy(update={"train": placed(task.train, folder)})
            for name, task in data.unlabelled.items()
        }
        tasks = {name: {**labelled, **others}[name] for name in data.tasks}  # in their order
        cache = None if data.cache is None else placed(data.cache, folder)
        changed = data.model_copy(update={"tasks": tasks, "cache": cache})
        return super().placed(changed, model, folder)

    def whole(self, data: TextData, target: str) -> TextData | None:
        """The target without its limit."""
        if data.labelled[target].limit is None:
            return None
        every = data.labelled[target].model_copy(update={"limit": None})
        return data.model_copy(update={"tasks": {**data.tasks, target: every}})

    def recognise(self, files: FileGroup) -> Recognised | None:
        """By what is in them; names only say what cannot be seen."""
        from tawt.text.recognising import recognise_text

        return recognise_text(files)

    def draft(self, target: Recognised, sources: Sequence[Recognised]) -> Drafted:
        """A small encoder, and enough passes over the target."""
        from tawt.text.drafting import draft_text

        return draft_text(target, sources)

    def sharers(self, data: TextData, tasks: Sequence[Task], *, target: str) -> list[str]:
        """Those of the same kind where the labels of one are among the labels of the other."""
        from tawt.text.heads import have_the_same_labels

        own, by_name = data.labelled[target], {task.name: task for task in tasks}
        if own.head is not None:  # it is said already who shares it
            return []
        return [
            name
            for name, section in data.labelled.items()
            if name in by_name and name != target and section.head is None
            if section.kind == own.kind and have_the_same_labels(by_name[name], by_name[target])
        ]

    def with_shared_head(self, data: TextData, *, target: str, sources: Sequence[str]) -> TextData:
        """By a name that no other head has."""
        head, known = target, {section.head for section in data.labelled.values()}
        while head in known:
            head += "+"
        sharing = {
            name: section.model_copy(update={"head": head})
            for name, section in data.labelled.items()
            if name == target or name in sources
        }
        return data.model_copy(update={"tasks": {**data.tasks, **sharing}})

    def limits(self, data: TextData) -> list[int]:
        """As the section says."""
        return [task.limit or 0 for task in data.tasks.values()]


TEXT = TextFiles()
