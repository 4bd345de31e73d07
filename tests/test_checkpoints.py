"""State as one safetensors file: what comes back, and what is refused."""

import pytest
import torch
from safetensors.torch import save

from tawt.errors import RunError
from tawt.training.checkpoints import (
    OtherVersionError,
    random_state,
    read,
    set_random_state,
    to_bytes,
)

DEVICE = torch.device("cpu")


@pytest.fixture
def there_and_back(tmp_path):
    def made(state):
        path = tmp_path / "state.safetensors"
        path.write_bytes(to_bytes(state))
        return read(path)

    return made


PLAIN = {
    "step": 3,
    "rate": 0.1 + 0.2,
    "tiny": 5e-324,
    "large": 2**80,
    "none": None,
    "yes": True,
    "name": "ünï „quoted“ \n <tag> \x00",
    "list": [1, [2.5, None], {"a": []}],
    "empty": {},
    "": {"": 1},
}


def test_plain_values_come_back_exactly(there_and_back):
    assert there_and_back(PLAIN) == PLAIN


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor([1.0, -0.0, float("nan"), float("inf"), 1e-45]),
        torch.tensor(2.5, dtype=torch.float64),
        torch.arange(6).reshape(2, 3).T,
        torch.zeros(0, 4),
        torch.tensor([True, False]),
        torch.randn(3, generator=torch.Generator().manual_seed(0)).bfloat16(),
        torch.get_rng_state(),
        torch.arange(10.0)[::3],
        torch.ones(3, requires_grad=True) * 2,
    ],
    ids=lambda tensor: f"{tensor.dtype}, {tuple(tensor.shape)}",
)
def test_tensors_come_back_bit_for_bit(there_and_back, tensor):
    back = there_and_back({"in": [{"deep": tensor}]})["in"][0]["deep"]
    assert back.dtype == tensor.dtype
    assert back.shape == tensor.shape
    assert not back.requires_grad
    ours, theirs = (x.detach().contiguous().reshape(-1).view(torch.uint8) for x in (back, tensor))
    assert torch.equal(ours, theirs)


def test_tensors_that_share_memory_come_back_apart(there_and_back):
    one = torch.arange(4.0)
    back = there_and_back({"a": one, "b": one, "c": one[:2]})
    assert back["a"].tolist() == back["b"].tolist() == [0, 1, 2, 3]
    assert back["c"].tolist() == [0, 1]
    back["a"][0] = 9
    assert back["b"][0] == 0


def test_positions_become_text_and_tuples_lists(there_and_back):
    assert there_and_back({"state": {0: {"x": (1, 2)}}}) == {"state": {"0": {"x": [1, 2]}}}


def test_the_same_state_is_the_same_bytes():
    state = {"a": torch.arange(3), "b": [torch.ones(2), 0.1]}
    assert to_bytes(state) == to_bytes(state)


def test_no_pickle_is_in_the_file():
    content = to_bytes({"a": torch.arange(3), "b": {"c": 1}})
    assert b"torch" not in content
    assert not content.startswith((b"\x80", b"PK"))


WHOLE = to_bytes({"a": torch.arange(1000), "b": 1})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 7,
        b"not a checkpoint at all",
        WHOLE[:20],
        WHOLE[: len(WHOLE) // 2],
        WHOLE[:-1],
        save({"a": torch.arange(3)}),
        save({"a": torch.arange(3)}, metadata={"another format 1": "{}"}),
        save({"a": torch.arange(3)}, metadata={"tawt checkpoint 6": "{}"}),
        save({"a": torch.arange(3)}, metadata={"tawt checkpoint 6": '{"run": "", "sha256": "0"}'}),
    ],
    ids=[
        "empty",
        "zeros",
        "text",
        "header cut",
        "half",
        "a byte short",
        "no metadata",
        "another format",
        "no checksum",
        "wrong checksum",
    ],
)
def test_what_is_no_whole_checkpoint_is_refused(content, tmp_path):
    path = tmp_path / "state.safetensors"
    path.write_bytes(content)
    with pytest.raises(RunError, match=r"state\.safetensors is (damaged|not a check)") as refused:
        read(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("version", [1, 2])
def test_a_checkpoint_of_an_earlier_version_is_told_apart(version, tmp_path):
    path = tmp_path / "state.safetensors"
    about = '{"run": "mine", "sha256": "0"}'
    path.write_bytes(save({"a": torch.arange(3)}, metadata={f"tawt checkpoint {version}": about}))
    with pytest.raises(OtherVersionError, match="written by an earlier version of tawt"):
        read(path, run="mine")


def every_bit(content):
    """The content with one bit flipped, for a bit of every byte."""
    for place in range(len(content)):
        yield content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]


def test_a_flipped_bit_anywhere_is_found(tmp_path):
    whole = to_bytes({"a": torch.arange(9.0), "b": {"rate": 0.5}}, run="mine")
    path = tmp_path / "state.safetensors"
    for damaged in every_bit(whole):
        path.write_bytes(damaged)
        with pytest.raises(RunError):
            read(path, run="mine")


def test_a_zeroed_page_is_found(tmp_path):
    whole = bytearray(to_bytes({"a": torch.randn(5000)}))
    whole[4096:8192] = bytes(4096)
    path = tmp_path / "state.safetensors"
    path.write_bytes(whole)
    with pytest.raises(RunError, match="checksum"):
        read(path)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    path = tmp_path / "state.safetensors"
    path.write_bytes(to_bytes({"a": 1}, run="theirs"))
    assert read(path, run="theirs") == {"a": 1}
    with pytest.raises(RunError, match="another configuration or other data"):
        read(path, run="mine")


def test_a_missing_checkpoint_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"none\.safetensors"):
        read(tmp_path / "none.safetensors")


def test_random_streams_go_on_where_they_were(there_and_back):
    before = torch.get_rng_state()
    try:
        saved = there_and_back(random_state(DEVICE))
        first = torch.rand(5)
        torch.rand(100)
        set_random_state(saved, DEVICE)
        assert torch.equal(torch.rand(5), first)
    finally:
        torch.set_rng_state(before)
