"""Text: generated, streamed, cancelled; tokens and chats."""
import gc
import threading
import time

import pytest
import tokamak
from conftest import DATA, STORYTELLER

ONCE = "Once upon a time"
GREEDY = {"temperature": 0, "max_tokens": 8}


def test_streams_pieces_that_are_the_text(story):
    run = story.generate(ONCE, logprobs=True, top_logprobs=2, **GREEDY)
    pieces = list(run)
    assert "".join(pieces) == run.text
    assert run.text.startswith(", there lived")
    assert [token for piece in pieces for token in piece.ids] == run.result.ids
    assert all(logprob <= 0 for piece in pieces for logprob in piece.logprobs)
    assert pieces[0].top_logprobs[0][0] == (pieces[0].ids[0], pieces[0].logprobs[0])
    assert all([len(place) for place in piece.top_logprobs] == [2] * len(piece.ids) for piece in pieces)
    assert run.result.finish == "length"
    assert run.result.prompt_tokens == len(story.tokenize(ONCE))
    assert list(run) == [], "it has ended"


def test_gives_the_whole_without_reading_pieces(story):
    run = story.generate(ONCE, prompt_logprobs=True, top_logprobs=1, **GREEDY)
    assert run.text.startswith(", there lived")
    assert len(run.result.prompt_logprobs) == run.result.prompt_tokens - 1
    assert len(run.result.prompt_top_logprobs[0]) == 1
    assert str(run) == run.text
    plain = next(story.generate(ONCE, **GREEDY))
    assert plain.logprobs is None and plain.top_logprobs is None and plain.reasoning == ""


def test_same_seed_same_text(story):
    first = story.generate(ONCE, seed=7, temperature=1, max_tokens=12).text
    assert story.generate(ONCE, seed=7, temperature=1, max_tokens=12).text == first
    seed = story.generate(ONCE, temperature=1, max_tokens=4).result.seed
    assert isinstance(seed, int)


def test_continues_tokens(story):
    assert story.generate(story.tokenize(ONCE), **GREEDY).text == story.generate(ONCE, **GREEDY).text


def test_takes_options_of_every_kind(story):
    assert story.generate(ONCE, temperature=0, max_tokens=20, stop="lived").result.stop == "lived"
    assert story.generate(ONCE, temperature=0, max_tokens=20, stop=["zebra", " there"]).text == ","
    comma = story.generate(ONCE, temperature=0, max_tokens=1).result.ids[0]
    assert story.generate(ONCE, logit_bias={comma: -100}, **GREEDY).result.ids[0] != comma
    assert story.generate(ONCE, end_ids=[comma, 7], **GREEDY).result.finish == "end"
    assert story.generate(ONCE, choices=["yes", "no"], max_tokens=8).text in ("yes", "no")
    found = story.generate(ONCE, json_schema={"enum": ["red"]}, max_tokens=16).text
    assert found == '"red"'


def test_names_an_option_that_is_not_there(story):
    with pytest.raises(tokamak.Error, match='There is no option "colour", but prompt') as raised:
        story.generate(ONCE, colour="red")
    assert raised.value.code == tokamak.ErrorCode.USAGE
    with pytest.raises(tokamak.Error, match="prompt has a zero character at byte 2"):
        story.generate("ab\0c")
    with pytest.raises(tokamak.Error, match="token id"):
        story.generate([-1])


def test_cancels(story):
    run = story.generate(ONCE, max_tokens=400, end_ids=[])
    next(run)
    run.cancel()
    assert run.result.finish == "cancelled"
    assert 0 < len(run.result.ids) < 100
    with story.generate(ONCE, max_tokens=400, end_ids=[]) as closed:
        for _ in closed:
            break
    assert closed.result.finish == "cancelled"


def test_a_run_that_is_dropped_computes_no_more(story):
    run = story.generate(ONCE, max_tokens=400, end_ids=[])
    next(run)
    del run
    gc.collect()
    began = time.monotonic()
    assert story.generate(ONCE, max_tokens=2, temperature=0).result.finish == "length"
    assert time.monotonic() - began < 5


def test_many_threads_use_one_model():
    # Otherwise prompts that are read together are multiplied by other kernels than one alone.
    with tokamak.open(STORYTELLER, backend="cpu", context=512, sequences=4, batch_invariant=True) as model:
        expected = [model.generate(ONCE, max_tokens=10, temperature=1, seed=seed).text for seed in range(4)]
        found = [None] * 4

        def work(index):
            found[index] = "".join(model.generate(ONCE, max_tokens=10, temperature=1, seed=index))

        threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == expected


def test_chats(story):
    messages = [{"role": "user", "content": "Hello"}]
    assert "user\nHello" in story.render(messages)
    assert story.render(messages, add_generation_prompt=False) in story.render(messages)
    plain = story.chat(messages, **GREEDY)
    assert plain.text == story.chat([{"role": "user", "content": "Hello", "name": "me"}], **GREEDY).text
    assert plain.text == story.chat(messages, template={"unused": 1}, **GREEDY).text
    assert plain.result.prompt_tokens == len(story.tokenize(story.render(messages), add_special=False))
    with pytest.raises(tokamak.Error, match="images go with plain messages"):
        story.chat([{"role": "user", "content": "Hello", "images": [b""]}, {"role": "user", "content": []}])


def test_tokens_are_text_again(story):
    assert story.detokenize(story.tokenize("a fox", add_special=False)) == "a fox"
    assert story.tokenize("", add_special=False) == []


def test_images_belong_to_their_message():
    image = DATA / "images" / "wide.png"
    with tokamak.open(DATA / "vision" / "qwen3_5_vl_images", backend="cpu", context=128, image_pixels=65536) as model:
        by_path = model.chat([{"role": "user", "content": "What is it?", "images": [image]}], **GREEDY)
        by_bytes = model.chat([{"role": "user", "content": "What is it?", "images": [image.read_bytes()]}], **GREEDY)
        assert by_path.result.ids == by_bytes.result.ids
