from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tawt.demos.grammar import generate, inflection
from tawt.errors import DataError
from tawt.text.metrics import spans

REGISTERS = ["news", "web"]
BE = {"be", "am", "is", "are", "was", "were", "been"}
DO = {"do", "does", "did"}
HAVE = {"have", "has", "had", "having"}
PENN = {
    "CC", "CD", "DT", "EX", "IN", "JJ", "MD", "NN", "NNP", "NNS", "POS", "PRP", "PRP$", "RB", "RP",
    "TO", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP", "WRB", ",", ".",
}  # fmt: skip


@pytest.fixture(scope="module")
def news():
    return generate(2000, seed=0)


@pytest.fixture(scope="module")
def web():
    return generate(2000, seed=0, register="web")


@pytest.fixture(params=REGISTERS)
def corpus(request):
    return request.getfixturevalue(request.param)


def tokens(corpus):
    for sentence in corpus:
        yield from zip(
            sentence.words,
            sentence.pos,
            sentence.chunks,
            sentence.predicates,
            sentence.entities,
            strict=True,
        )


@pytest.mark.parametrize("register", REGISTERS)
@given(seed=st.integers(0, 1000), count=st.integers(0, 10), more=st.integers(0, 10))
def test_a_sentence_depends_on_its_seed_and_number_alone(register, seed, count, more):
    few = generate(count, seed=seed, register=register)
    assert generate(count + more, seed=seed, register=register)[:count] == few
    assert len(few) == count


def test_seeds_and_registers_differ():
    first = generate(20, seed=0)
    assert first != generate(20, seed=1)
    assert first != generate(20, seed=0, register="web")


def test_every_word_has_its_four_tags(corpus):
    for sentence in corpus:
        size = len(sentence.words)
        assert size > 0
        tags = (sentence.pos, sentence.chunks, sentence.predicates, sentence.entities)
        assert [len(column) for column in tags] == [size] * 4
        assert all(word and " " not in word for word in sentence.words)


def test_spans_are_iob2(corpus):
    # In IOB2 no span begins with I-: the lenient reading finds nothing more than the strict one.
    for sentence in corpus:
        for tags in (sentence.chunks, sentence.entities, sentence.predicates):
            assert spans(tags, reading="strict") == spans(tags, reading="conlleval")


def test_the_tag_sets(news, web):
    assert {pos for _, pos, *_ in tokens(news)} == PENN
    assert {pos for _, pos, *_ in tokens(web)} == PENN | {"UH"}
    kinds = {"NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT"}
    assert {chunk[2:] for _, _, chunk, _, _ in tokens(news)} - {""} == kinds
    assert {chunk[2:] for _, _, chunk, _, _ in tokens(web)} - {""} == kinds | {"INTJ"}
    for corpus in (news, web):
        assert {predicate for *_, predicate, _ in tokens(corpus)} == {"O", "B-V"}
        names = {f"{prefix}-{kind}" for prefix in "BI" for kind in ("PER", "ORG", "LOC")}
        assert {entity for *_, entity in tokens(corpus)} == names | {"O"}


def test_no_tag_set_is_nearly_constant(corpus):
    every = list(tokens(corpus))
    for column in (1, 2, 3, 4):
        most = max(
            sum(token[column] == tag for token in every) for tag in {t[column] for t in every}
        )
        assert most < 0.93 * len(every)


def test_few_sentences_repeat(news):
    assert len({sentence.words for sentence in news}) > 0.95 * len(news)


def test_sentences_have_the_length_of_sentences(news, web):
    for corpus, low, high in ((news, 10, 18), (web, 6, 12)):
        lengths = [len(sentence.words) for sentence in corpus]
        assert low < sum(lengths) / len(lengths) < high
        assert max(lengths) < 80


def test_predicates_are_verbs_and_all_verbs_but_auxiliaries(news):
    for word, pos, _, predicate, _ in tokens(news):
        if word.lower() not in HAVE:  # see below
            auxiliary = word.lower() in BE | DO
            assert (predicate == "B-V") == (pos.startswith("V") and not auxiliary), word


def test_have_is_a_predicate_unless_a_participle_follows(news):
    seen = set()
    for sentence in news:
        if sentence.words[-1] == "?":  # there the subject stands between
            continue
        for i, word in enumerate(sentence.words):
            if word.lower() in HAVE and sentence.pos[i].startswith("V"):
                following = next(pos for pos in sentence.pos[i + 1 :] if pos != "RB")
                assert (sentence.predicates[i] == "O") == (following == "VBN"), sentence.words
                seen.add(sentence.predicates[i])
    assert seen == {"O", "B-V"}


def test_predicates_are_verbs_in_verb_phrases(corpus):
    for _, pos, chunk, predicate, _ in tokens(corpus):
        if predicate == "B-V":
            assert pos.startswith("V")
            assert chunk.endswith("-VP")


def test_entities_are_proper_nouns(corpus):
    for word, pos, _, _, entity in tokens(corpus):
        assert entity == "O" or pos == "NNP" or (entity == "I-ORG" and pos == "IN"), word


def test_words_are_ambiguous(news):
    parts, kinds = defaultdict(set), defaultdict(set)
    for word, pos, _, _, entity in tokens(news):
        parts[word.lower()].add(pos)
        kinds[word].add(entity[2:])
    assert parts["plans"] >= {"NNS", "VBZ"}
    assert parts["report"] >= {"NN", "VB"}
    assert parts["reported"] >= {"VBD", "VBN"}
    assert parts["that"] >= {"DT", "IN", "WDT"}
    assert parts["may"] >= {"MD", "NNP"}
    assert parts["up"] == {"RP"}
    assert parts["over"] >= {"IN", "RP"}
    assert kinds["Washington"] == kinds["Jordan"] | {"ORG"} == {"PER", "LOC", "ORG"}
    assert kinds["Paris"] >= {"PER", "LOC"}
    assert sum(len(tags) > 1 for tags in parts.values()) > 0.15 * len(parts)


def test_a_hundred_sentences_leave_words_unseen(news):
    seen = {word for word, *_ in tokens(news[:100])}
    unseen = [word not in seen for word, *_ in tokens(news[100:])]
    assert 0.1 < sum(unseen) / len(unseen) < 0.4


def test_the_registers_differ_as_they_should(news, web):
    capital = {}
    for name, corpus in (("news", news), ("web", web)):
        names = [word for word, *_, entity in tokens(corpus) if entity == "B-PER"]
        capital[name] = sum(word[0].isupper() for word in names) / len(names)
    assert capital["news"] == 1
    assert capital["web"] < 0.5
    assert all(
        sentence.words[0][0].isupper() or sentence.words[0][0].isdigit() for sentence in news
    )
    words = {word.lower() for word, *_ in tokens(news)}
    typed = {word.lower() for word, *_ in tokens(web)}
    assert "u" in typed - words
    assert len(typed - words) > 500  # slips and other topics


def test_constructions_occur(news, web):
    text = [" ".join(sentence.words) for sentence in news]
    assert any(t.endswith("?") for t in text)
    assert any(" who " in t for t in text)
    assert any(" by " in t for t in text)
    assert any(t.startswith("There ") for t in text)
    asked = sum("?" in s.words for s in web), sum("?" in s.words for s in news)
    assert asked[0] > asked[1]


def test_what_cannot_be_generated_is_refused():
    with pytest.raises(DataError, match="must not be negative; got -1"):
        generate(-1, seed=0)
    with pytest.raises(DataError, match="Unknown register 'nws': did you mean 'news'"):
        generate(1, seed=0, register="nws")


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("visit", "visit visits visited visited visiting"),
        ("plan", "plan plans planned planned planning"),
        ("study", "study studies studied studied studying"),
        ("move", "move moves moved moved moving"),
        ("agree", "agree agrees agreed agreed agreeing"),
        ("fix", "fix fixes fixed fixed fixing"),
        ("play", "play plays played played playing"),
        ("go", "go goes went gone going"),
        ("have", "have has had had having"),
        ("be", "be is was been being"),
    ],
)
def test_verbs_are_inflected(verb, forms):
    wanted = ("base", "present", "past", "participle", "gerund")
    assert [inflection.inflect(verb, form)[0] for form in wanted] == forms.split()
