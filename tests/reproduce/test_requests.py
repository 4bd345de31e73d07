"""What was asked for, read again after its folder was moved."""

import pytest

from tawt.reproduce import contents
from tawt.reproduce.request import Request, load_request, save_request


@pytest.fixture(autouse=True)
def nothing_known():
    contents.forget()
    yield
    contents.forget()


def test_a_moved_folder_knows_its_own_files_and_the_data_that_was_in_it(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    own, given = before / "words" / "pos.npz", before / "data" / "vectors.txt"
    for path in (own, given):
        path.parent.mkdir(parents=True)
        path.write_text(path.name)
    digests = [contents.by_contents(str(path)) for path in (own, given)]
    save_request(Request(seeds=(0,), vectors=str(given)), before / "figure")
    own.unlink()
    given.unlink()
    before.rename(after)
    contents.forget()
    request = load_request(after / "figure")
    assert request is not None
    assert request.vectors == str(given)
    moved = after / "words" / "pos.npz"
    assert [contents.by_contents(path) for path in (str(moved), request.vectors)] == digests
