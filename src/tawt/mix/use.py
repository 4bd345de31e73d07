"""How to use a mixture, in lines to copy."""

from __future__ import annotations

from tawt.mix.folder import MIXTURE_JSON, MIXTURE_YAML


def how_to_use() -> dict[str, str]:
    """Each way, and its lines."""
    read = f'mixture = json.loads(Path("{MIXTURE_JSON}").read_text())["probabilities"]'
    return {
        "datasets": "\n".join(
            [
                read,
                "# The stream ends with the first corpus that is used up; one that may be repeated",
                "# twelve times goes in as corpora[name].repeat(12).",
                "stream = datasets.interleave_datasets(",
                "    [corpora[name] for name in mixture], probabilities=list(mixture.values()),",
                '    seed=0, stopping_strategy="first_exhausted",',
                ")",
            ]
        ),
        "tawt in your own loop": "\n".join(
            [
                read,
                "weights = tawt.Fixed(list(mixture), initial=mixture)",
                "drawn = {name: corpora[name] for name in mixture}",
                "batches = tawt.Mixture(drawn, weights, batch_size=32, steps=1000)",
            ]
        ),
        "tawt train": "Copy `paradigm`, `sources` and `weighting` of `configuration` in "
        f"{MIXTURE_YAML} into the configuration of the run.",
    }
