"""The language model, held to transformers' own loss and to sums by hand."""

import pytest
import torch
from transformers import AutoModelForCausalLM, BertConfig, BertForMaskedLM, GPT2Config

from tawt.corpora.kinds import LanguageModelling
from tawt.corpora.loading import load_language_model
from tawt.corpora.model_sections import LanguageModelConfig
from tawt.corpora.networks import LanguageModel, counted_nats
from tawt.corpora.vocabularies import Bytes
from tawt.errors import ConfigError
from tawt.text.encoding.loading import quietly

WINDOW = 12
CAUSAL = LanguageModelConfig(layers=2, width=16, heads=2)
MASKED = LanguageModelConfig(objective="masked", layers=2, width=16, heads=2)


def made(section, *, seed=0, window=WINDOW):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return load_language_model(section, vocabulary=Bytes(), window=window)


def tokens(*shape, seed=0):
    return torch.randint(3, 259, shape, generator=torch.Generator().manual_seed(seed))


def test_nats_of_a_causal_model_are_those_of_transformers_own_loss():
    model, drawn = made(CAUSAL), tokens(3, WINDOW + 1)
    found = LanguageModel(model)({"tokens": drawn, "lengths": torch.full((3,), WINDOW + 1)})
    for row in range(3):
        # Its loss shifts labels by itself, and here they are the inputs shifted already.
        logits = model(input_ids=drawn[row : row + 1, :-1]).logits
        own = model.loss_function(
            logits, labels=None, shift_labels=drawn[row : row + 1, 1:], vocab_size=320
        )
        torch.testing.assert_close(found[row, 0] / found[row, 1], own, rtol=1e-6, atol=1e-6)
    shifted = model(input_ids=drawn[:, :-1], labels=drawn[:, :-1]).loss
    short = LanguageModel(model)({"tokens": drawn[:, :-1], "lengths": torch.full((3,), WINDOW)})
    torch.testing.assert_close(short[:, 0].sum() / short[:, 1].sum(), shifted, rtol=1e-6, atol=1e-6)


def test_what_comes_after_a_windows_end_counts_nothing():
    model, drawn = LanguageModel(made(CAUSAL)), tokens(1, WINDOW + 1)
    padded = drawn.clone()
    padded[0, 6:] = 0
    short = model({"tokens": drawn[:, :6], "lengths": torch.tensor([6])})
    long = model({"tokens": padded, "lengths": torch.tensor([6])})
    torch.testing.assert_close(short, long, rtol=1e-5, atol=1e-5)
    assert long[0, 1] == 5


def test_nats_of_a_masked_model_are_of_what_is_asked_and_padding_is_not_seen():
    model, drawn = made(MASKED), tokens(2, WINDOW)
    answers = torch.full_like(drawn, -100)
    answers[0, 2], answers[0, 5], answers[1, 1] = drawn[0, 2], drawn[0, 5], drawn[1, 1]
    drawn[1, 7:] = 0
    lengths = torch.tensor([WINDOW, 7])
    found = LanguageModel(model)({"tokens": drawn, "answers": answers, "lengths": lengths})
    first = model(input_ids=drawn[:1]).logits.log_softmax(-1)[0]
    second = model(input_ids=drawn[1:, :7]).logits.log_softmax(-1)[0]
    by_hand = -first[2, answers[0, 2]] - first[5, answers[0, 5]], -second[1, answers[1, 1]]
    torch.testing.assert_close(found[:, 0], torch.stack(by_hand), rtol=1e-5, atol=1e-5)
    assert found[:, 1].tolist() == [2.0, 1.0]


def test_cross_entropy_is_in_float32_whatever_the_logits_are():
    logits = torch.randn(2, 3, 5).bfloat16()
    answers, asked = torch.ones(2, 3, dtype=torch.long), torch.ones(2, 3, dtype=torch.bool)
    found = counted_nats(logits, answers, asked)
    wanted = torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1), answers.flatten(), reduction="sum"
    )
    assert found.dtype == torch.float32
    torch.testing.assert_close(found[:, 0].sum(), wanted)


@pytest.mark.parametrize("section", [CAUSAL, MASKED])
def test_a_model_from_nothing_depends_on_the_seed_alone(section):
    first, again, other = made(section), made(section), made(section, seed=1)
    pairs = zip(first.parameters(), again.parameters(), strict=True)
    assert all(torch.equal(one, two) for one, two in pairs)
    moved = zip(first.parameters(), other.parameters(), strict=True)
    assert not all(torch.equal(one, two) for one, two in moved)


def test_a_small_vocabulary_is_padded_for_speed_and_tied():
    model = made(CAUSAL)
    assert model.get_input_embeddings().weight.shape == (320, 16)
    assert model.lm_head.weight is model.get_input_embeddings().weight


def test_no_text_is_made_of_rows_that_fill_a_vocabulary_up():
    model = made(CAUSAL)
    with torch.no_grad():
        model.lm_head.weight[260:] = 100.0  # as likely as can be
    start = torch.tensor([[100, 101]])
    found = model.generate(start, max_new_tokens=8, do_sample=False, pad_token_id=0)
    assert found.max() < 260
    masked = made(MASKED)
    assert masked.get_input_embeddings().weight.shape == (260, 16)
    assert masked.get_output_embeddings().weight.shape == (260, 16)


def test_tied_weights_survive_a_round_trip_of_the_state():
    model, other = LanguageModel(made(CAUSAL)), LanguageModel(made(CAUSAL, seed=1))
    state = {name: value.clone() for name, value in model.state_dict().items()}
    other.load_state_dict(state)
    assert other.model.lm_head.weight is other.model.get_input_embeddings().weight
    assert torch.equal(other.model.lm_head.weight, model.model.lm_head.weight)


def saved(model, folder):
    with quietly():
        model.save_pretrained(folder)
    return str(folder)


def test_a_checkpoint_is_gone_on_with_and_a_configuration_is_not(tmp_path):
    name = saved(made(CAUSAL), tmp_path / "model")
    same = made(LanguageModelConfig(checkpoint=name), seed=5)
    fresh = made(LanguageModelConfig(config=name), seed=5)
    before = made(CAUSAL)
    assert torch.equal(same.lm_head.weight, before.lm_head.weight)
    assert fresh.lm_head.weight.shape == before.lm_head.weight.shape
    assert not torch.equal(fresh.lm_head.weight, before.lm_head.weight)
    assert fresh.config.n_layer == 2


def refused(section, **how):
    with pytest.raises(ConfigError) as raised:
        made(section, **how)
    assert "\n" not in str(raised.value)
    return raised.value


@pytest.mark.parametrize("field", ["checkpoint", "config"])
def test_a_window_beyond_the_models_positions_is_refused_with_its_place(tmp_path, field):
    name = saved(made(CAUSAL), tmp_path / "model")
    error = refused(LanguageModelConfig(**{field: name}), window=WINDOW + 1)
    assert error.place == ("data", "window")
    assert f"at most {WINDOW}" in str(error)


def test_an_encoder_that_sees_what_it_is_to_predict_is_refused(tmp_path):
    name = saved(made(MASKED), tmp_path / "bert")
    error = refused(LanguageModelConfig(checkpoint=name))
    assert "masked" in str(error)
    assert error.place == ("model", "objective")


def test_a_causal_model_is_no_masked_one(tmp_path):
    name = saved(made(CAUSAL), tmp_path / "gpt")
    for field in ("checkpoint", "config"):
        error = refused(LanguageModelConfig(objective="masked", **{field: name}))
        assert "set `model.objective` to causal" in str(error)


def test_a_vocabulary_that_the_checkpoint_does_not_know_is_refused(tmp_path):
    small = AutoModelForCausalLM.from_config(
        GPT2Config(vocab_size=100, n_positions=16, n_embd=8, n_layer=1, n_head=1)
    )
    error = refused(LanguageModelConfig(checkpoint=saved(small, tmp_path / "small")))
    assert error.place == ("data", "tokenizer")


def test_what_is_no_language_model_is_said_in_one_line(tmp_path):
    assert "no language model" in str(refused(LanguageModelConfig(checkpoint="./nowhere")))
    (tmp_path / "config.json").write_text("{}")
    assert "no language model" in str(refused(LanguageModelConfig(checkpoint=str(tmp_path))))


def test_an_encoder_without_an_output_layer_gets_a_new_one_and_it_is_said(tmp_path, caplog):
    config = BertConfig(
        vocab_size=320,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=16,
    )
    name = saved(BertForMaskedLM(config).bert, tmp_path / "body")
    made(LanguageModelConfig(objective="masked", checkpoint=name))
    assert "without an output layer" in caplog.text


def test_the_kind_has_what_the_model_is_made_of():
    kind = LanguageModelling(Bytes(), WINDOW)
    assert (kind.vocabulary.size, kind.window) == (260, 12)
