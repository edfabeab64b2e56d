"""The model that knows who is "it", in a real browser: torch's numbers, trained and random, with heads on and off."""

import base64
import itertools
import json
import re
import struct

import pytest
import torch

from attention_book.lab.who import SEED, SENTENCES, best, finding, models, script
from attention_book.trained import words
from attention_book.trained.ablate import without
from attention_book.trained.cache import remembered
from attention_book.trained.export import reference_vectors, to_float16
from attention_book.trained.grammar import VOCABULARY
from attention_book.trained.who_is_it import answer, new_model, train_who_is_it
from tests.lab.by_torch import draws_with_avx2
from tests.lab.rig import engine_in
from tests.trained.conftest import trained_weights  # noqa: F401 (pytest finds fixtures by name)

pytestmark = pytest.mark.usefixtures("trained_weights")

WITHIN = 1e-4


@pytest.fixture(scope="module")
def work(browser):
    """Does a job of `who_jobs.js`."""
    with engine_in(browser) as engine:
        yield lambda **job: json.loads(
            engine.page.evaluate(
                "async text => { const { answerOf } = await import('/who_jobs.js'); return JSON.stringify(answerOf(JSON.parse(text))) }",
                json.dumps(job),
            )
        )


@pytest.fixture
def content():
    """The file that the page loads."""
    return json.loads(script().removeprefix("globalThis.attentionBookWho = ").removesuffix(";\n"))


def tensors(told):
    return {name: torch.frombuffer(bytearray(bytes.fromhex(each["hex"])), dtype=torch.float32).view(each["shape"]) for name, each in told.items()}


def compare(mine, probabilities, weights, within=WITHIN):
    torch.testing.assert_close(torch.tensor(mine["probabilities"]), torch.as_tensor(probabilities), rtol=0, atol=within, check_dtype=False)
    for layer, right in zip(mine["weights"], torch.as_tensor(weights), strict=True):
        torch.testing.assert_close(torch.tensor(layer["data"]).view(layer["shape"]), right, rtol=0, atol=within)


def test_the_browser_answers_as_torch_on_200_sentences_with_a_head_off_too(work, content):
    vectors = reference_vectors(remembered(train_who_is_it, SEED), seed=SEED)
    assert len(vectors) == 200
    whole = work(job="answers", content=content, random=False, sentences=[{"tokens": each["tokens"], "off": []} for each in vectors])
    cut = work(job="answers", content=content, random=False, sentences=[{"tokens": each["tokens"], "off": [each["off"]]} for each in vectors])
    for each, mine, less in zip(vectors, whole, cut, strict=True):
        compare(mine, each["probabilities"], each["weights"])
        compare(less, each["probabilities without"], each["weights"])  # the last layer's head: no weights change
    assert max(abs(a - b) for each in vectors for a, b in zip(each["probabilities"], each["probabilities without"], strict=True)) > 0.1


def test_any_heads_can_be_off_and_later_weights_follow(work, content):
    model = to_float16(remembered(train_who_is_it, SEED))
    heads = [(layer, head) for layer in range(2) for head in range(4)]
    sets = [[each] for each in heads] + [list(pair) for pair in itertools.combinations(heads, 2)] + [heads[:4], heads[4:], heads]
    for tokens in SENTENCES.values():
        mine = work(job="answers", content=content, random=False, sentences=[{"tokens": tokens, "off": off} for off in sets])
        for off, each in zip(sets, mine, strict=True):
            compare(each, *answer(without(model, off), tokens)[1:])


def test_the_weights_are_read_to_the_bit(work, content):
    state = to_float16(remembered(train_who_is_it, SEED)).state_dict()
    mine = tensors(work(job="parameters", content=content, random=False))
    assert mine.keys() == state.keys()
    assert all(torch.equal(mine[name], state[name]) for name in state)


@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
def test_the_random_weights_are_those_that_torch_draws(work, content, seed):
    content["config"]["seed"] = seed
    mine, state = tensors(work(job="parameters", content=content, random=True)), new_model(seed).state_dict()
    assert mine.keys() == state.keys()
    for name, right in state.items():
        if draws_with_avx2():
            assert torch.equal(mine[name], right), name
        torch.testing.assert_close(mine[name], right, rtol=0, atol=3e-6)


def test_the_random_model_answers_as_torch(work, content):
    sentences = [{"tokens": tokens, "off": off} for tokens in SENTENCES.values() for off in ([], [(0, 1), (1, 2)])]
    for each, mine in zip(sentences, work(job="answers", content=content, random=True, sentences=sentences), strict=True):
        compare(mine, *answer(without(new_model(SEED), each["off"]), each["tokens"])[1:])


def test_every_number_of_16_bits_is_read_right(work, content):
    bits = [number for number in range(2**16) if (number >> 10) & 31 != 31]
    data = base64.b64encode(struct.pack(f"<{len(bits)}H", *bits)).decode()
    content["weights"] = {"all": {"shape": [len(bits)], "data": data}}
    mine = tensors(work(job="parameters", content=content, random=False))["all"]
    right = torch.frombuffer(bytearray(base64.b64decode(data)), dtype=torch.float16).float()
    assert mine.numpy().tobytes() == right.numpy().tobytes()


def test_every_sentence_that_can_be_chosen_is_one_of_the_grammar(work, content):
    told = work(job="sentences", content=content)
    families = (words.NATURE, words.CHASE, words.SIZE)
    assert {(each["family"], each["pattern"]) for each in told} == {(f, p) for f, family in enumerate(families) for p in range(len(family.patterns))}
    for each in told:
        family, tokens = families[each["family"]], each["tokens"]
        assert set(tokens) <= set(VOCABULARY)
        assert tokens[each["it"]] == "it"
        slots = r"(?P<%s>\w+)"
        written = " ".join((r"(?:(?:very|so|too|really) )?" if word == "ADJECTIVE" else "") + (slots % word if word.isupper() else word)
                           for word in family.patterns[each["pattern"]].split())
        found = re.fullmatch(written, " ".join(tokens)).groupdict()
        assert all(word in words.SLOTS[slot] for slot, word in found.items() if slot != "ADJECTIVE")
        meant = [answer.noun for answer in family.answers.values() if found["ADJECTIVE"] in answer.adjectives]
        assert [found[noun] for noun in meant] == [tokens[each["right"]]]
        nouns = {found[answer.noun] for answer in family.answers.values()}
        assert nouns == {tokens[each["right"]], tokens[each["wrong"]]}
        assert len(nouns) == 2


def test_a_sentence_too_long_is_refused(work, content):
    with pytest.raises(Exception, match="the sentence has 25 words but the model reads 24; shorten it"):
        work(job="answers", content=content, random=False, sentences=[{"tokens": ["it"] * 25, "off": []}])


def test_what_the_page_finds_about_the_heads_holds():
    model = models()["Trained"]
    told = finding()
    numbers = [int(each) for each in re.findall(r"\d", told.split(" of layer 1 ")[0])]
    assert len(numbers) > 1, "more than one head looks at the noun"
    for right, tokens in SENTENCES.items():
        assert best(model, tokens)[0] == right
        weights = answer(model, tokens)[2][1, :, tokens.index("it"), tokens.index(right)]
        assert [head for head in range(4) if weights[head] > 0.5 and head in numbers] == numbers
    off = [int(each) for each in re.findall(r"\d", re.search(r"Switch off (.*?): both answers stay\.", told)[1])]
    assert off, "some of them are not missed"
    for right, tokens in SENTENCES.items():
        assert best(without(model, [(1, head) for head in off]), tokens)[0] == right
    changes = re.findall(r"without head (\d) of layer (\d) (.*?)(?=, and without|\.$)", told)
    assert changes, "one head is missed"
    for head, layer, what in changes:
        for adjective, word in re.findall(r"“(\w+)” gives “(\w+)”", what):
            tokens = next(tokens for tokens in SENTENCES.values() if tokens[-1] == adjective)
            assert best(without(model, [(int(layer), int(head))]), tokens)[0] == word != best(model, tokens)[0]
