"""What the tests of the readers share."""

import pytest


@pytest.fixture
def file(tmp_path):
    """Write a file and give its path; its content may be bytes, or text with any line ends."""

    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
