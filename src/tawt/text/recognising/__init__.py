"""What text files are, seen from the files alone: format, columns, kind of task, labels."""

from tawt.text.recognising.recognised import RecognisedText, recognise_text

__all__ = ["RecognisedText", "recognise_text"]
