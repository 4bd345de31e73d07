"""What a user asks for."""

from __future__ import annotations

from dataclasses import dataclass

from tawt.errors import ConfigError
from tawt.reproduce.tagging import Setup  # noqa: TC001 - a field


@dataclass(frozen=True, kw_only=True)
class Request:
    """What all experiments can be asked for, and what they are to be made from."""

    seeds: tuple[int, ...]
    setup: Setup | None = None
    """For experiments with encoders."""
    vectors: str | None = None
    """Word vectors, for weights on samples."""
    tiny: bool = False

    def text_setup(self, experiment: str) -> Setup:
        """What runs with encoders share.

        Raises:
            ConfigError: It was not given.
        """
        if self.setup is None or not self.setup.encoder:
            raise ConfigError(
                f"{experiment} trains encoders: give --data and --encoder, or --scale tiny to see "
                "that it works."
            )
        return self.setup
