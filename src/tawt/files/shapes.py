"""What JSON files in folders must look like, so that whoever reads them can rely on it.

Whose file it is has its shape: runs, comparisons, distances.

Only what is read is asked for: files of earlier versions have less, and those of later ones more.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tawt.errors import RunError

if TYPE_CHECKING:
    from pathlib import Path

Number = Annotated[float, Field(ge=-1e100, le=1e100)]
"""What can be squared, and shown in percent."""
Shares = dict[str, Number | None]
Count = Annotated[int, Field(ge=0)]


class Shape(BaseModel):
    """Part of a file: fields of the right type, and numbers that are finite."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


def check(value: Any, shape: type[BaseModel], path: Path) -> None:
    """Refuse what a file cannot have from us.

    Args:
        value: As JSON has it.
        shape: What it must look like.
        path: The file.

    Raises:
        RunError: Saying where the value is not as it must be.
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        shape.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        said = first["msg"][:1].lower() + first["msg"][1:]
        raise RunError(f"{path} is damaged: {place + ': ' if place else ''}{said}.") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is damaged: {error}.") from error
