"""Arrays in `.npz` files, read with suspicion: a file may claim what it does not hold."""

from __future__ import annotations

import math
import os
import zipfile
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from tawt.errors import DataError
from tawt.paths import check_file, unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_MAGIC = b"\x93NUMPY"  # an .npy file begins so
_ENCRYPTED = 0x1  # a bit of a member's flags
_MOST_COMPRESSION = 1100  # deflate makes nothing smaller than by a factor of 1032
_FREE = 1 << 16  # bytes that may be claimed without a reason
_OTHERS = (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)  # which have no such bound


def read_arrays(
    path: Path, names: Sequence[str], *, optional: Sequence[str] = ()
) -> dict[str, NDArray[Any]]:
    """Arrays of an `.npz` file by name; nothing in it is executed.

    Args:
        path: The file.
        names: Those that must be there.
        optional: Those that may be.

    Raises:
        DataError: If it is no such file, is damaged or encrypted, holds objects, or claims more
            than it holds or than fits into memory.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "train.npz")
        ...     np.savez(path, inputs=np.eye(2), labels=[0, 1])
        ...     read_arrays(path, ["labels"])["labels"].tolist()
        [0, 1]
    """
    check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            held = {each.removesuffix(".npy") for each in archive.namelist()}
            _check_names(held, names)
            known = [*names, *(name for name in optional if name in held)]
            return {name: _member(archive, f"{name}.npy") for name in known}
    except OSError as error:
        raise DataError(unreadable(path, error)) from error
    except MemoryError as error:
        raise DataError(f"{path} does not fit into memory; give a smaller file.") from error
    except Exception as error:  # a damaged archive makes the libraries raise anything
        wanted = " and ".join(f"`{name}`" for name in names)
        raise DataError(
            f"{path} must be an .npz file with the arrays {wanted} ({_reason(error)}); "
            f"write one with numpy.savez(path, {', '.join(f'{name}=…' for name in names)})."
        ) from error


def read_array(handle: BinaryIO, name: str, *, path: Path) -> NDArray[Any]:
    """One array of an open file: that of an `.npy`, or the one of this name of an `.npz`.

    Args:
        handle: Open for reading, at its beginning; it can be sought in.
        name: Of the array in an `.npz` file.
        path: The file's name.

    Raises:
        DataError: As `read_arrays`.

    Example:
        >>> import io
        >>> from pathlib import Path
        >>> file = io.BytesIO()
        >>> np.save(file, np.eye(2))
        >>> read_array(io.BytesIO(file.getvalue()), "inputs", path=Path("a.npy")).shape
        (2, 2)
    """
    try:
        return _array_in(handle, name, path=path)
    except OSError as error:
        raise DataError(unreadable(path, error)) from error
    except MemoryError as error:
        raise DataError(f"{path} does not fit into memory; give a smaller file.") from error
    except Exception as error:  # a damaged archive makes the libraries raise anything
        raise DataError(
            f"{path} must be an .npz file with the array `{name}`, or an .npy file "
            f"({_reason(error)}); write one with numpy.savez(path, {name}=…)."
        ) from error


def _array_in(handle: BinaryIO, name: str, *, path: Path) -> NDArray[Any]:
    start = handle.read(len(_MAGIC))
    if not start:
        raise _Refused("it is empty")
    if start == _MAGIC:
        size = handle.seek(0, os.SEEK_END)
        handle.seek(0)
        _check_header(handle, path.name, size=size)
        handle.seek(0)
        array: NDArray[Any] = np.lib.format.read_array(handle, allow_pickle=False)
        return array
    handle.seek(0)
    with zipfile.ZipFile(handle) as archive:
        _check_names({each.removesuffix(".npy") for each in archive.namelist()}, [name])
        return _member(archive, f"{name}.npy")


class _Refused(ValueError):  # noqa: N818 - it never leaves this module
    """What the libraries would take."""


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__


def _check_names(held: set[str], names: Sequence[str]) -> None:
    for name in names:
        if name not in held:
            listed = ", ".join(sorted(held)[:10]) or "nothing"
            raise _Refused(f"it has no `{name}`, but {listed}")


def _member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    info = archive.getinfo(name)
    if info.flag_bits & _ENCRYPTED:
        raise _Refused(f"{name} is encrypted")
    bounded = info.compress_type not in _OTHERS
    if bounded and info.file_size > _FREE + info.compress_size * _MOST_COMPRESSION:
        raise _Refused(f"{name} claims {info.file_size:,} bytes, which it cannot hold")
    with archive.open(info) as file:
        _check_header(file, name, size=info.file_size)
    with archive.open(info) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        if file.read(1):
            raise _Refused(f"{name} has more in it than one array")
    return array


def _check_header(file: Any, name: str, *, size: int) -> None:
    """Before as much memory is taken as the header asks for."""
    shape, dtype, length = _header(file)
    if dtype.hasobject:
        raise _Refused(f"{name} holds Python objects, which are never loaded")
    if any(isinstance(axis, bool) or axis < 0 for axis in shape):
        raise _Refused(f"{name} claims the shape {shape}")
    claimed = math.prod(shape) * dtype.itemsize
    if claimed != size - length:
        raise _Refused(
            f"{name} claims the shape {shape} of {dtype}, {claimed:,} bytes, and has "
            f"{size - length:,}"
        )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if claimed > memory:
        raise _Refused(f"{name} has {claimed:,} bytes, more than the memory of {memory:,}")


def _header(file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape and type of an array, and how many bytes say so."""
    version = np.lib.format.read_magic(file)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise _Refused(f"version {version} of the format is not known here")
    shape, _, dtype = readers[version](file)
    return shape, dtype, file.tell()
