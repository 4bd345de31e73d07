"""Linear heads that are fitted to the end on frozen vectors."""

from tawt.probes.items import Items, OnPass, uncounted
from tawt.probes.linear_head import LinearHead
from tawt.probes.probe import Probe, Risk, sureness

__all__ = ["Items", "LinearHead", "OnPass", "Probe", "Risk", "sureness", "uncounted"]
