"""Answers of a trained model for new text: streamed, in the order of the input."""

from tawt.text.predicting.answers import LabelledAnswer, NumberAnswer, TaggedAnswer
from tawt.text.predicting.guessing import INPUT_FORMATS, InputFormat
from tawt.text.predicting.inputs import lines_of, read_unlabelled
from tawt.text.predicting.predictor import TextPredictor
from tawt.text.predicting.splitting import split_words
from tawt.text.predicting.unlabelled import Sentence, Text, Unlabelled

__all__ = [
    "INPUT_FORMATS",
    "InputFormat",
    "LabelledAnswer",
    "NumberAnswer",
    "Sentence",
    "TaggedAnswer",
    "Text",
    "TextPredictor",
    "Unlabelled",
    "lines_of",
    "read_unlabelled",
    "split_words",
]
