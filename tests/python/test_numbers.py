"""Vectors, scores and logits: numpy's arrays, or lists where there is none."""
import gc

import pytest
import tokamak

from conftest import DATA

try:
    import numpy
except ImportError:
    numpy = None

IDS = [3, 9, 27, 11, 5]


def shape_of(found):
    if numpy is not None:
        assert isinstance(found, numpy.ndarray) and found.dtype == numpy.float32
        return found.shape
    assert isinstance(found, list)
    return (len(found), len(found[0])) if found and isinstance(found[0], list) else (len(found),)


def test_embeds_one_text_or_several(vectors):
    width = vectors.details.dimensions
    several = vectors.embed(["A fox", "The sea", "A fox"])
    one = vectors.embed("A fox")
    assert shape_of(several) == (3, width) and shape_of(one) == (width,)
    assert list(several[0]) == list(several[2]) != list(several[1])
    assert list(one) == pytest.approx(list(several[0]), abs=1e-4)
    assert shape_of(vectors.embed(["A fox"], dimensions=8, normalize=True)) == (1, 8)
    assert sum(number * number for number in vectors.embed("A fox", normalize=True)) == pytest.approx(1, abs=1e-4)
    assert len(vectors.embed([])) == 0


def test_sparse_vectors_are_weights_of_tokens(vectors):
    with tokamak.open(DATA / "embeddings" / "bge_m3", backend="cpu-reference") as model:
        texts = ["the old owl hunts at night", "a red fox sees the sea"]
        several, one = model.embed_sparse(texts), model.embed_sparse(texts[1])
        assert len(several) == 2 and one == pytest.approx(several[1], abs=1e-5)
        assert one and all(token > 3 and weight > 0 for token, weight in one.items())
    with pytest.raises(tokamak.Error, match="no sparse vectors"):
        vectors.embed_sparse("A fox")


def test_vectors_outlive_the_call_and_the_model():
    with tokamak.open(DATA / "models" / "qwen3_qknorm", backend="cpu", context=64) as model:
        before = model.logits(IDS)
        kept = list(before)
    del model
    gc.collect()
    assert list(before) == kept


def test_says_which_text_is_wrong(vectors):
    with pytest.raises(tokamak.Error, match="unknown|prompt"):
        vectors.embed("A fox", prompt="no such prompt")
    with pytest.raises(tokamak.Error) as raised:
        vectors.embed(["A fox " * 500])
    assert raised.value.code == tokamak.ErrorCode.INVALID_INPUT
    assert len(vectors.embed(["A fox " * 500], truncate=True)) == 1


def test_a_model_of_texts_gives_no_vectors(story):
    with pytest.raises(tokamak.Error) as raised:
        story.embed("A fox")
    assert raised.value.code == tokamak.ErrorCode.UNSUPPORTED


def test_logits_are_those_of_each_prefix(tiny):
    every = tiny.logits(IDS, last=False)
    assert shape_of(every) == (len(IDS), tiny.details.vocabulary)
    for count in range(1, len(IDS) + 1):
        last = tiny.logits(IDS[:count])
        assert shape_of(last) == (tiny.details.vocabulary,)
        assert list(last) == pytest.approx(list(every[count - 1]), abs=1e-4)


def test_logits_name_the_next_token(story):
    ids = story.tokenize("Once upon a time")
    logits = list(story.logits(ids))
    assert logits.index(max(logits)) == story.generate(ids, temperature=0, max_tokens=1).result.ids[0]


def test_logits_say_what_is_wrong(tiny):
    with pytest.raises(tokamak.Error, match="no tokens"):
        tiny.logits([])
    with pytest.raises(tokamak.Error, match="999"):
        tiny.logits([999])


def test_ranks_documents():
    with tokamak.open(DATA / "rerank" / "cross_bert", backend="cpu") as model:
        documents = ["the fox", "a river", "an owl"]
        scores = model.rerank("a fox", documents)
        assert shape_of(scores) == (3,)
        assert scores[0] != scores[1]
        assert list(model.rerank("a fox", documents[::-1])) == pytest.approx(list(scores)[::-1], abs=1e-5)
        assert shape_of(model.rerank("a fox", [])) == (0,)
