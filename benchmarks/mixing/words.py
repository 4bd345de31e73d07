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

Every step has windows of all corpora of a mixture, each as many as its weight says; that is what
equal weights mean here. With windows of one corpus a step, drawn by weight, equal weights are far
worse (they have a row).

**Read the shares with four things in mind.**

- **Some of the headroom is not about which corpus is near.** On the two targets that chose no
  setting any English corpus is better than all sixteen alike, which include six languages and
  noise: `web` alone recovers more of it than any peer, the same words shuffled nearly half (the
  last rows, one seed).
- **Near is not enough.** The corpus nearest to afrikaans is dutch, 133 kB of it. At 900 steps
  learned weights pass over it some twenty times, the model memorises it, and they end worse than
  equal weights. Alone, it is not even among the four corpora whose pairs are tried, so that the
  search finds nothing better than equal weights, and afrikaans is in no share. An alignment does
  not see how little is left to learn. At 300 steps dutch is the right answer.
- **Searching costs.** Learned weights begin equal and pay for what they measure, about a
  fourteenth of the budget; the ceiling has the right corpora from the first step on.
- **All were tuned on the same two targets, ours more**: seven settings with two seeds each, after
  others in earlier versions; each peer that has a setting two to four, with one seed. At 300 steps
  all have what was chosen at 900, and seeds differ by as much as most headrooms."""

FOOT = """## How the peers differ from their papers

Each is one file beside `TargetAware`, whose docstring says what differs.

- **DoReMi** is not told the target: half of its budget trains the reference model, and weights
  follow the excess loss in the other half. It answers another question.
- **DoGE** measures as often as ours does, with a step size of its own, which was tuned.
- **Bandit** is EXP3 as in FLAD; it measures one source an update.
- **DSIR** chooses windows by hashed n-grams before training, as many as fill the budget when each
  is passed over so many times (`passes`). It is not charged for choosing.
- **"then the target"** passes over the 200 lines three times at the end, and is charged for it;
  **"as one more source"** gives them an equal share.

Made by `python -m benchmarks.mixing` and `python -m benchmarks.mixing.table` on one NVIDIA H200
(torch 2.11, TF32), 16 processes side by side. Every record is in `mixing.jsonl.gz`."""
