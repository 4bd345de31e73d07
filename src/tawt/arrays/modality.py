"""Arrays as a kind of data: NumPy files in, a small network out."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, TypeVar

from tawt.arrays.building import array_model, check_learnable, read_task
from tawt.arrays.predicting import ArrayPredictor
from tawt.arrays.recognising import draft_arrays, recognise_arrays
from tawt.arrays.saving import load_network, save_network
from tawt.arrays.sections import ArrayData, NetworkConfig
from tawt.modality import DataSection, Modality, Predictor, PredictRequest, Trained
from tawt.modality.inspecting import measured
from tawt.paths import home_expanded, resolved
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.modality.inspecting import Measured
    from tawt.modality.recognising import Drafted, FileGroup, Recognised
    from tawt.tasks import MultiTaskModel, Task

D = TypeVar("D", bound=DataSection)


class ArrayModality(Modality[D, NetworkConfig]):
    """Tasks of arrays, wherever they come from: what follows from them is the same."""

    model_section = NetworkConfig
    model_wanted: ClassVar[str] = "`model.kind` mlp or cnn"

    @abstractmethod
    def read(self, data: D, names: Sequence[str], *, seed: int) -> list[Task]:
        """The tasks of these names, in this order."""

    def tasks(
        self,
        data: D,
        model: NetworkConfig,
        *,
        names: Sequence[str],
        targets: Sequence[str],
        seed: int,
    ) -> list[Task]:
        """The tasks, if there is anything to learn."""
        del model
        found = self.read(data, names, seed=seed)
        check_learnable(found, targets)
        return found

    def inspect(
        self,
        data: D,
        model: NetworkConfig,
        *,
        names: Sequence[str],
        targets: Sequence[str],
        seed: int,
    ) -> tuple[list[Measured], list[str]]:
        """What is in the arrays, even if there is nothing to learn."""
        del model
        return [
            measured(task, role="target" if task.name in targets else "source")
            for task in self.read(data, names, seed=seed)
        ], []

    def model(self, section: NetworkConfig, tasks: Sequence[Task]) -> MultiTaskModel:
        """A network for inputs of the tasks' shape."""
        return array_model(section, tasks)

    def save(self, trained: Trained[NetworkConfig], folder: Path) -> None:
        """Parameters in safetensors, and what they are parameters of in JSON."""
        save_network(trained, folder)

    def predictor(self, folder: Path, request: PredictRequest[D, NetworkConfig]) -> Predictor:
        """The network, from its folder alone."""
        return ArrayPredictor(
            load_network(folder, request.target),
            device=chosen_device(request.device),
            precision=request.precision,
            batch_size=request.batch_size,
        )


class Arrays(ArrayModality[ArrayData]):
    """Tasks in `.npz` files."""

    name = "arrays"
    data_section = ArrayData
    groups_wanted: ClassVar[str] = "an array `groups`"
    dev_wanted: ClassVar[str] = "a file as `dev`"
    files_wanted: ClassVar[str] = "NumPy arrays (.npz)"
    endings: ClassVar[tuple[str, ...]] = (".npz",)

    def task_names(self, data: ArrayData) -> list[str]:
        """Those of the section."""
        return list(data.tasks)

    def read(self, data: ArrayData, names: Sequence[str], *, seed: int) -> list[Task]:
        """From their files; nothing is drawn."""
        del seed
        return [read_task(name, data.tasks[name]) for name in names]

    def placed(
        self, data: ArrayData, model: NetworkConfig, folder: Path
    ) -> tuple[ArrayData, NetworkConfig]:
        """Files are relative to the folder."""

        def placed(path: Path | None) -> Path | None:
            return None if path is None else resolved(folder / home_expanded(path))

        tasks = {
            name: task.model_copy(
                update={
                    "train": placed(task.train),
                    "dev": placed(task.dev),
                    "test": placed(task.test),
                }
            )
            for name, task in data.tasks.items()
        }
        return data.model_copy(update={"tasks": tasks}), model

    def recognise(self, files: FileGroup) -> Recognised | None:
        """By the arrays in them."""
        return recognise_arrays(files)

    def draft(self, target: Recognised, sources: Sequence[Recognised]) -> Drafted:
        """A small network."""
        return draft_arrays(target, sources)


ARRAYS = Arrays()
