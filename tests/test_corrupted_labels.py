"""Where the answer is known: 40% of a source's labels are wrong, and weights must find which.

The form that the paper's theorem analyses: the target reaches the representation through the
weights alone. A draw of its own, by settings that were chosen on others;
docs/results/corrupted-labels.md has ten more, made by `benchmarks/corrupted_labels.py`, and the
settings in which it does not work so well.
"""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from tawt.arrays import MLP, classification
from tawt.hypergradient import Cosine
from tawt.runs.agreement import deviations
from tawt.tasks import MultiTaskModel
from tawt.training import PreTraining, Settings, train
from tawt.units import Units
from tawt.weighting import Fixed, TargetAware, UpdateRule

SOURCE_SIZE, TARGET_SIZE, SEED = 900, 400, 302
SETTINGS = Settings(
    learning_rate=1e-3,
    clip_norm=None,
    head_learning_rate=1e-2,
    head_epochs=2,
    gradient_examples=200,
    select="last",
)


@pytest.fixture(scope="module")
def digits():
    """Odd or even: images and labels of target, source and test; which of the source are wrong."""
    images, numbers = load_digits(return_X_y=True)
    images, labels = images.astype(np.float32) / 16 - 0.5, numbers % 2
    draw = np.random.default_rng(SEED)
    own, source, test = np.split(draw.permutation(len(images)), [TARGET_SIZE, 1300])
    wrong = draw.random(SOURCE_SIZE) < 0.4
    parts = {"target": own, "source": source, "test": test}
    return {name: (images[part], labels[part]) for name, part in parts.items()}, wrong


def trained(digits, labels, weighting):
    tasks = [
        classification("source", train=(digits["source"][0], labels)),
        classification("target", train=digits["target"], test=digits["test"]),
    ]
    torch.manual_seed(SEED)
    model = MultiTaskModel.for_tasks(MLP((64,), widths=(10,)), tasks, width=10)
    result = train(
        model,
        tasks=tasks,
        target="target",
        paradigm=PreTraining(epochs=150, fine_tune_epochs=150, split_target=True),
        weighting=weighting,
        settings=SETTINGS,
        seed=SEED,
    )
    return result.scores["target"]["test"]["accuracy"]


def test_weights_on_examples_find_wrong_labels_and_recover_what_they_cost(digits):
    parts, wrong = digits
    right = parts["source"][1]
    given = np.where(wrong, 1 - right, right)
    alike = Fixed(["source"])
    learned = TargetAware(
        sources=["source"],
        target="target",
        target_share=None,
        sizes={"source": SOURCE_SIZE},
        rule=UpdateRule(alignment=Cosine(scale=0.3), own_alignment="held-out"),
        units=Units.of_examples({"source": SOURCE_SIZE}),
    )
    recovered = trained(parts, given, learned)
    corrupted, clean = trained(parts, given, alike), trained(parts, right, alike)

    weights = learned.weights.relative("source", np.arange(SOURCE_SIZE)).numpy()
    assert roc_auc_score(~wrong, weights) >= 0.8
    source = classification("source", train=(parts["source"][0], given))
    within = deviations(source, learned.mean_alignments[:SOURCE_SIZE].numpy())
    assert roc_auc_score(~wrong, within) >= 0.8
    assert weights[wrong].mean() < 0.5 * weights[~wrong].mean()
    assert clean - corrupted > 0.05
    assert recovered - corrupted >= 0.5 * (clean - corrupted)
