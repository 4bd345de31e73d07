"""Arrays in files that lie, are damaged, or were written on another machine."""

import io
import struct
import zipfile

import numpy as np
import pytest
import torch

from tawt.arrays import classification, regression
from tawt.arrays.files import read_arrays
from tawt.config import load
from tawt.errors import DataError
from tawt.runs.building import tasks


def npy(array):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=True)
    return file.getvalue()


def header(text, data=b"", *, version=1):
    """An array that says this of itself, whatever it holds."""
    encoded = text.encode() + b"\n"
    size = struct.pack("<H" if version == 1 else "<I", len(encoded))
    return b"\x93NUMPY" + bytes([version, 0]) + size + encoded + data


def archive(path, *, inputs=None, labels=None, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr("inputs.npy", npy(np.eye(4)) if inputs is None else inputs)
        file.writestr("labels.npy", npy([0, 1, 0, 1]) if labels is None else labels)
    return path


def described(shape, descr="'<f8'", order="False"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


def refused(path):
    with pytest.raises(DataError) as raised:
        read_arrays(path, ["inputs", "labels"])
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 1000
    return str(raised.value)


HOSTILE = {
    "huge": (header(described("(1000000000000, 4)")), "claims the shape (1000000000000, 4)"),
    "huger": (header(described(f"({10**30}, 4)")), "claims the shape"),
    "negative": (header(described("(-4, -4)"), bytes(128)), "claims the shape (-4, -4)"),
    "a bool": (header(described("(True, 4)"), bytes(32)), "claims the shape"),
    "short": (header(described("(4, 4)"), bytes(127)), "128 bytes, and has 127"),
    "long": (header(described("(4, 4)"), bytes(129)), "128 bytes, and has 129"),
    "objects": (npy(np.array([{}, []], object)), "Python objects"),
    "objects within": (header(described("(1,)", "[('a', '|O')]"), bytes(8)), "Python objects"),
    "no type": (header(described("(4, 4)", "'<q9'"), bytes(128)), "inputs"),
    "no header": (b"\x93NUMPY\x01\x00\xff\xff{'descr'", "inputs"),
    "no literal": (header("__import__('os').abort()"), "inputs"),
    "deep": (header("(" * 5000), "inputs"),
    "long header": (header(" " * 60000), "inputs"),
    "unknown version": (header(described("(4, 4)"), bytes(128), version=9), "(9, 0)"),
    "no magic": (b"not an array", "inputs"),
    "nothing": (b"", "inputs"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_array_that_is_none(tmp_path, name):
    content, words = HOSTILE[name]
    assert words in refused(archive(tmp_path / "a.npz", inputs=content))


def patched(path, signature, offset, values):
    """Overwrite a field of every entry of an archive."""
    content = bytearray(path.read_bytes())
    at = content.find(signature)
    while at >= 0:
        content[at + offset : at + offset + len(values)] = values
        at = content.find(signature, at + 4)
    path.write_bytes(content)
    return path


def test_an_encrypted_archive(tmp_path):
    path = patched(archive(tmp_path / "a.npz"), b"PK\x01\x02", 8, b"\x01\x00")
    assert "is encrypted" in refused(path)


def test_an_unknown_compression(tmp_path):
    path = patched(archive(tmp_path / "a.npz"), b"PK\x01\x02", 10, b"\x63\x00")
    assert "compression" in refused(path)


def test_a_member_that_claims_gigabytes(tmp_path):
    """Neither the header nor the archive's directory is believed; no memory is taken."""
    lies = header(described("(400000000, 1)")) + bytes(100)
    size = struct.pack("<I", len(header(described("(400000000, 1)"))) + 3_200_000_000)
    path = archive(tmp_path / "a.npz", inputs=lies)
    path = patched(path, b"PK\x01\x02", 24, size)
    assert "which it cannot hold" in refused(path)


def test_a_truncated_archive(tmp_path):
    content = archive(tmp_path / "a.npz", compression=zipfile.ZIP_DEFLATED).read_bytes()
    for length in range(0, len(content), 7):
        (tmp_path / "a.npz").write_bytes(content[:length])
        refused(tmp_path / "a.npz")


def test_what_is_missing_is_told(tmp_path):
    np.savez(tmp_path / "a.npz", inputs=np.eye(2), label=[0, 1])
    assert "it has no `labels`, but inputs, label" in refused(tmp_path / "a.npz")


@pytest.mark.parametrize("kind", ["deflated", "bzip2", "lzma", "stored"])
def test_every_compression_that_python_knows(tmp_path, kind):
    path = archive(tmp_path / "a.npz", compression=getattr(zipfile, f"ZIP_{kind.upper()}"))
    found = read_arrays(path, ["inputs", "labels"], optional=["groups"])
    assert sorted(found) == ["inputs", "labels"]
    np.testing.assert_array_equal(found["inputs"], np.eye(4))


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">f2", ">i4", ">u2", "<f8", "g", "?", "u8"])
def test_arrays_of_another_machine_are_the_same_examples(tmp_path, dtype):
    """Byte order and width are a matter of the file, not of the numbers in it."""
    values = np.arange(12).reshape(4, 3) % 5
    np.savez(tmp_path / "a.npz", inputs=values.astype(dtype), labels=np.array([0, 1, 1, 0], ">i8"))
    found = read_arrays(tmp_path / "a.npz", ["inputs", "labels"])
    split = (found["inputs"], found["labels"])
    plain = (values.astype(bool) if dtype == "?" else values, [0, 1, 1, 0])
    for made in (classification, regression):
        ours, theirs = made("a", train=split).train, made("a", train=plain).train
        torch.testing.assert_close(ours.inputs, theirs.inputs, rtol=0, atol=0)
        torch.testing.assert_close(ours.labels, theirs.labels, rtol=0, atol=0)
        assert ours.fingerprint() == theirs.fingerprint()


def test_numbers_that_only_a_long_double_holds():
    inputs = np.full((2, 2), np.longdouble("1e300") * np.longdouble("1e300"))
    if np.isinf(inputs).any():
        pytest.skip("long doubles are doubles here")
    with pytest.raises(DataError, match="too large for float32"):
        classification("a", train=(inputs, [0, 1]))


def test_examples_without_features():
    with pytest.raises(DataError, match="there are no features"):
        classification("a", train=(np.zeros((3, 0)), [0, 1, 0]))


def test_an_error_names_the_task(study):
    archive(study.folder / "near.train.npz", inputs=b"")
    with pytest.raises(DataError, match=r"^Task 'near': "):
        tasks(load(study.path))
