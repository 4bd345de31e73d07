"""What a kind of data is: one package that reads it, trains on it, saves, predicts and shows it.

Arrays, text and corpora are those that tawt has. The next one derives from `Modality`, and is found
under its name; nothing else has to know of it.
"""

from tawt.extras import need

need("arrays", by=__name__)

from tawt.modality.interface import Modality, PredictRequest, Trained
from tawt.modality.predicting import Answer, LabelAnswer, Predictor
from tawt.modality.registry import known_modalities, modality_named, register
from tawt.modality.section import MOST, DataSection, Section

__all__ = [
    "MOST",
    "Answer",
    "DataSection",
    "LabelAnswer",
    "Modality",
    "PredictRequest",
    "Predictor",
    "Section",
    "Trained",
    "known_modalities",
    "modality_named",
    "register",
]
