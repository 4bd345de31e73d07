"""Images as PNG: read back as the format's description says."""

import struct
import zlib

import numpy as np
import pytest

from tawt.arrays.png import png


def read(data):
    """Pixels of a PNG without filters, every checksum looked at."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, place = {}, 8
    while place < len(data):
        (size,) = struct.unpack(">I", data[place : place + 4])
        kind, content = data[place + 4 : place + 8], data[place + 8 : place + 8 + size]
        (checksum,) = struct.unpack(">I", data[place + 8 + size : place + 12 + size])
        assert checksum == zlib.crc32(kind + content)
        chunks[kind] = content
        place += 12 + size
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    bits, colours, *others = rest
    assert bits == 8
    assert others == [0, 0, 0]
    shape = {0: (height, width), 2: (height, width, 3)}[colours]
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(shape)


@pytest.mark.parametrize("shape", [(1, 1), (8, 8), (5, 64), (64, 3), (1, 1, 3), (4, 7, 3)])
def test_pixels_are_read_back(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    assert np.array_equal(read(png(pixels)), pixels)


def test_a_view_that_is_not_contiguous():
    pixels = np.arange(24, dtype=np.uint8).reshape(4, 6)[::2, ::-1].T
    assert np.array_equal(read(png(pixels)), pixels)
