"""Small tokenizers, trained on the spot."""

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from tawt.text.encoding.loading import quietly
from tests.corpora.files import sentences


def write_tokenizer(folder, *, specials=("<end>", "<pad>", "<mask>"), **named):
    """Byte-level BPE of 300 pieces; by default it has an end, a padding and a mask."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(sentences(200), trainer)
    named = named or {"eos_token": "<end>", "pad_token": "<pad>", "mask_token": "<mask>"}
    return _saved(backend, folder, **named)


def write_word_pieces(folder):
    """Word pieces with the special tokens of BERT."""
    backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=120, special_tokens=specials, show_progress=False
    )
    backend.train_from_iterator(sentences(200), trainer)
    return _saved(
        backend,
        folder,
        **{f"{name.strip('[]').lower()}_token": name for name in specials},
    )


def _saved(backend, folder, **named):
    with quietly():
        PreTrainedTokenizerFast(tokenizer_object=backend, **named).save_pretrained(folder)
    return folder
