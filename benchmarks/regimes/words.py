"""What docs/results/regimes.md says around its tables."""

HEAD = """# Weights in each regime

**{verdict}**

A regime is a target of few labelled examples beside sources of which it is known which are useful,
because the others were spoilt on purpose. All methods of a regime have the same model, examples,
steps and passes over the target; they differ in how sources are weighed. Between sources and
fine-tuning the target's head is fitted anew for all, since some methods fit it often as they go and
others never, which is worth up to three points by itself. The model at the end is what is scored,
on test examples. In two regimes there is one source, and weights are on groups of its examples or
on each of them: what is said of sources here holds for these. Corpora, where no source is spoilt,
are a regime with a page of its own: [Choosing among corpora](mixing.md).

- *Beside equal weights*: points, the mean over targets and seeds, each paired with equal weights on
  the same target and seed, with the 95% interval of Student's t.
- *Area*: under the curve of useful against useless sources, by their final weights. It is how often
  a useful source has more weight than a useless one; equal weights count a half.
- *Cost*: work of a processor, in trainings with equal weights.
- *Ceiling by search*: the best of all single sources and of those picked by hand, chosen by dev
  score for each seed, and scored on test. No other row uses dev examples.

Targets marked * chose settings of the default. Its rule was chosen on the regimes of arrays too,
with eight seeds that are not among those of the tables: other images, points and spoilt labels from
the same sources. Settings of the peers are not chosen here, see the foot of the page."""

FOOT = """## The methods

- **equal**, **proportional**, **temperature**: weights that are held; all alike, by size, and by
  the square root of size.
- **paper**: the preset `paper`; steps drawn by size, in passes over all sources that take about as
  many steps, an update after every quarter of them. In joint training the target's share is
  learned; it is 0.3 in all other rows.
- **robust before**: what the preset `robust` was in earlier versions: mirror descent with weights
  at most tenfold apart (`UpdateRule.bounded()`), 128 examples a gradient, heads as training left
  them, all of the target at once, an update after every quarter of the steps.
- **default**: the preset `robust` as it is, which measures text through **fitted heads** and
  other kinds of data through **heads as trained**; rows of these names have it the other way round.
  On groups and examples the preset is what **robust before** is on sources, and measures all
  examples of the source at an update.
  **Bounded steps** has the step of before in place of evidence.
- **DoGE**, **bandit**, **excess loss**, **gradient similarity**: peers, through heads as trained,
  as often as the default and on as many examples. DoGE's η is 0.1 and the bandit's exploration 0.1,
  which were chosen for corpora. Excess losses are over a model that was trained with equal weights
  before, which the cost has. Gradient similarity is the gate of Du et al. (2018): sources whose
  cosine with the target is not positive have no weight until the next update.
- **hand-picked**: equal weights on the useful sources alone; of noisy copies or groups the clean
  one, of examples those with right labels.

Made by `python -m benchmarks.regimes` and `python -m benchmarks.regimes.table` in fp32: tagging on
one NVIDIA H200 (torch 2.11), all else on a CPU, one thread to a training (torch 2.13). Every record
is in `regimes.jsonl.gz`."""
