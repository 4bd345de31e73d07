"""Which extra of the package brings a library that is not installed."""

from __future__ import annotations

_EXTRAS = {
    "train": ("accelerate", "safetensors"),
    "arrays": ("sklearn", "pydantic"),
    "text": ("transformers", "tokenizers", "seqeval"),
    "cli": ("filelock", "jinja2", "plotly", "rich", "scipy", "typer", "yaml"),
    "hub": ("datasets", "pyarrow"),
}


def missing(error: ImportError) -> str | None:
    """What to install, in one line, if the error is that a library of an extra is missing.

    Args:
        error: Raised by an import.

    Example:
        >>> missing(ModuleNotFoundError("No module named 'yaml'", name="yaml"))
        "yaml is not installed, which this needs; pip install 'tawt[cli]' brings it."
        >>> missing(ModuleNotFoundError("No module named 'nonsense'", name="nonsense"))
    """
    library = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError):
        return None
    for extra, libraries in _EXTRAS.items():
        if library in libraries:
            return (
                f"{library} is not installed, which this needs; pip install 'tawt[{extra}]' "
                "brings it."
            )
    return None
