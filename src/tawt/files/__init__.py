"""Files that are written whole or not at all, and folders with one writer."""

from tawt.files.whole import (
    checksum,
    not_written,
    read_json,
    read_sealed,
    sweep,
    whole,
    write,
    write_json,
    write_sealed,
)

__all__ = [
    "checksum",
    "not_written",
    "read_json",
    "read_sealed",
    "sweep",
    "whole",
    "write",
    "write_json",
    "write_sealed",
]
