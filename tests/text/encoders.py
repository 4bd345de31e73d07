"""Very small encoders of many architectures, made on the spot: random, but for their tokenizers."""

import importlib
import warnings
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import AutoModel, PreTrainedTokenizerFast
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tawt.demos.grammar import generate
from tawt.demos.tiny import write_tiny_encoder
from tawt.text.encoding.loading import quietly

with warnings.catch_warnings():  # it is built on torch.jit, which torch has deprecated
    warnings.simplefilter("ignore", DeprecationWarning)
    importlib.import_module("transformers.models.deberta_v2.modeling_deberta_v2")

WORDS = [list(sentence.words) for sentence in generate(120, seed=0)]
_SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}
_AS_DISTILBERT = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24, "pad_token_id": 1}


@dataclass(frozen=True)
class Architecture:
    """How to make a tiny encoder of an architecture."""

    model_type: str
    pieces: str
    """Of its tokenizer: wordpiece, byte-level or unigram."""
    config: dict
    tokenizer_class: str | None = None


ARCHITECTURES = {
    "bert": Architecture("bert", "wordpiece", {**_SIZES, "max_position_embeddings": 70}),
    "roberta": Architecture(
        "roberta", "byte-level", {**_SIZES, "max_position_embeddings": 72}, "RobertaTokenizer"
    ),
    "distilbert": Architecture("distilbert", "wordpiece", _AS_DISTILBERT),
    "mpnet": Architecture("mpnet", "wordpiece", {**_SIZES, "max_position_embeddings": 72}),
    "deberta-v2": Architecture(
        "deberta-v2",
        "unigram",
        {
            **_SIZES,
            "relative_attention": True,
            "position_buckets": 8,
            "pos_att_type": ["p2c", "c2p"],
            "share_att_key": True,
            "position_biased_input": False,
            "type_vocab_size": 0,
            "pooler_hidden_size": 16,
        },
    ),
    "modernbert": Architecture(
        "modernbert", "byte-level", {**_SIZES, "cls_token_id": 0, "sep_token_id": 2}
    ),
    "electra": Architecture("electra", "wordpiece", {**_SIZES, "embedding_size": 12}),
    "albert": Architecture("albert", "unigram", {**_SIZES, "embedding_size": 12}),
    "xlm-roberta": Architecture(
        "xlm-roberta", "unigram", {**_SIZES, "max_position_embeddings": 72}
    ),
}


REFUSED = {
    "t5": Architecture(
        "t5",
        "unigram",
        {
            "d_model": 16,
            "d_kv": 8,
            "d_ff": 24,
            "num_layers": 2,
            "num_heads": 2,
            "pad_token_id": 1,
            "eos_token_id": 2,
            "decoder_start_token_id": 1,
        },
    ),
    "xmod": Architecture(
        "xmod",
        "unigram",
        {**_SIZES, "max_position_embeddings": 72, "languages": ["en_XX", "de_DE"]},
    ),
}
"""Those that can do less, or nothing as they are."""


def write_encoder(name: str, folder: Path) -> str:
    """A tiny encoder of an architecture in a folder, whose name is returned."""
    made = {**ARCHITECTURES, **REFUSED}[name]
    tokenizer = _tokenizer(made.pieces)
    tokenizer.save_pretrained(folder)
    if made.tokenizer_class is not None:
        settings = folder / "tokenizer_config.json"
        text = settings.read_text()
        settings.write_text(text.replace("TokenizersBackend", made.tokenizer_class))
    config = CONFIG_MAPPING[made.model_type](**{**made.config, "vocab_size": len(tokenizer)})
    with torch.random.fork_rng(devices=[]), quietly():
        torch.manual_seed(0)
        model = AutoModel.from_config(config)
        for parameter in model.parameters():  # zeros and ones hide mistakes
            torch.nn.init.normal_(parameter, std=0.3)
        model.save_pretrained(folder)
    return str(folder)


def write_tiny_bert(folder: Path) -> str:
    """The encoder of the tests that are not about encoders."""
    return str(write_tiny_encoder(folder, WORDS, vocabulary=400, width=16, layers=1))


def letters_tokenizer() -> PreTrainedTokenizerFast:
    """Each letter of a, b, c is a piece; z is unknown; signs of no width are nothing."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    known = [*special, *"abc", *(f"##{letter}" for letter in "abc")]
    vocabulary = {piece: number for number, piece in enumerate(known)}
    inner = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=False)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def _tokenizer(pieces: str) -> PreTrainedTokenizerFast:
    inner, trainer = {
        "wordpiece": _wordpiece,
        "byte-level": _byte_level,
        "unigram": _unigram,
    }[pieces]()
    inner.train_from_iterator((" ".join(words) for words in WORDS), trainer)
    inner.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B:1 </s>:1",
        special_tokens=[(name, inner.token_to_id(name)) for name in ("<s>", "</s>")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_input_names=["input_ids", "attention_mask"],
    )


def _wordpiece():
    inner = Tokenizer(models.WordPiece(unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    options = {"vocab_size": 400, "special_tokens": _SPECIAL, "show_progress": False}
    return inner, trainers.WordPieceTrainer(**options)


def _byte_level():
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    return inner, trainers.BpeTrainer(
        vocab_size=500,
        special_tokens=_SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )


def _unigram():
    inner = Tokenizer(models.Unigram())
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    return inner, trainers.UnigramTrainer(
        vocab_size=300, special_tokens=_SPECIAL, unk_token="<unk>", show_progress=False
    )
