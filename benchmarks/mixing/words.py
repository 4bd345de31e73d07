"""What docs/results/mixing.md says around its tables."""

HEAD = """# Choosing among corpora

**{verdict}.**

A byte model of 1.7 million parameters (2 layers, width 256, windows of 256 bytes, 16 to a step)
is trained from nothing on 16 corpora of up to 1 MB: eight in English, six in other languages,
shuffled words and random letters. The target is 200 lines of a text for which no corpus was named;
the model is scored on its held-out lines, those among the 200 left out. Every method pays for what
it measures: a budget is so many steps, and windows that go through the model at updates are taken
from it. *Headroom* is what lies between equal weights and the best of all single corpora and of the
pairs of the best four, found by training on each with the first seed and chosen on dev text; that
search is not charged for its trainings, and does not train on the 200 lines.

**Read the shares with two things in mind.**

- **Much of the headroom is not about which corpus is near.** All windows of a step are of one
  corpus, and a small model that is pulled to and fro between sixteen of them learns little. Equal
  weights with a window of every corpus in each step (`batch_size: 1, accumulation: 16`) recover a
  third to four fifths of the headroom at 300 steps, on three of five targets as much as learned
  weights; at 900 steps, on two targets, so does nearly any corpus of English, even with its words
  shuffled (the last rows of the tables). Learned weights were not trained on mixed steps: what they
  add to them is not measured here.
- **Peers were not tuned.** Of our settings twenty were tried on chemistry and galician; each peer
  has one, with updates that cost it a third of the budget or more. Their rows say what they do out
  of the box in this loop, not what they can do."""

FOOT = """## How the peers differ from their papers

Each is one file beside `TargetAware`, whose docstring says what differs.

- **DoReMi** is not told the target: half of its budget trains the reference model, and weights
  follow the excess loss in the other half. It answers another question.
- **DoGE** uses ten times the step size of its paper, times the steps between two updates. Its final
  weights are right on most targets; it comes to them late.
- **Bandit** is EXP3 as in FLAD; it measures one source an update.
- **DSIR** chooses windows by hashed n-grams before training, as many as the budget trains on: two
  fifths of all text at 900 steps, where it is meant to choose a small part of a large corpus. It is
  not charged for choosing.
- **"then the target"** passes over the 200 lines three times at the end, and is charged for it;
  **"as one more source"** gives them an equal share.

Made by `python -m benchmarks.mixing` and `python -m benchmarks.mixing.table` on one NVIDIA H200
(torch 2.11, TF32), 16 processes side by side. Every record is in `mixing.jsonl.gz`."""
