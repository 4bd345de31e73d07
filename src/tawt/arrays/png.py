"""Images as PNG, by the standard library alone."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def png(pixels: NDArray[np.uint8]) -> bytes:
    r"""The file of an image.

    Args:
        pixels: From 0, black, to 255, white; shape `(height, width)`, or `(height, width, 3)` for
            red, green and blue.

    Example:
        >>> png(np.array([[0, 255]], np.uint8))[:8]
        b'\x89PNG\r\n\x1a\n'
    """
    height, width = pixels.shape[:2]
    colours = 2 if pixels.ndim == 3 else 0
    header = struct.pack(">IIBBBBB", width, height, 8, colours, 0, 0, 0)  # 8 bits a channel
    lines = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0)))  # zero: a line is not filtered
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    checked = kind + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))
