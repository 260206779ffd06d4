"""OpenAI's calls without a server, and with one."""
import asyncio
import json
import os
import signal
import urllib.request

import pytest
import tokamak

from conftest import STORYTELLER

MESSAGES = [{"role": "user", "content": "Hello"}]
GREEDY = {"temperature": 0, "max_tokens": 8}


def test_answers_a_chat(story):
    answer = story.openai.chat.completions.create(messages=MESSAGES, model="storyteller", **GREEDY)
    assert answer.object == "chat.completion"
    assert answer.choices[0].message.content == answer["choices"][0]["message"]["content"] != ""
    assert answer.usage.completion_tokens == 8
    with pytest.raises(AttributeError, match='no "colour", but id'):
        answer.colour


def test_streams_events(story):
    whole = story.openai.chat.completions.create(messages=MESSAGES, **GREEDY).choices[0].message.content
    create = story.openai.chat.completions.create
    chunks = list(create(messages=MESSAGES, stream=True, **GREEDY))
    assert "".join(chunk.choices[0].delta.get("content") or "" for chunk in chunks) == whole

    async def read():
        return [chunk async for chunk in create(messages=MESSAGES, stream=True, **GREEDY)]

    assert len(asyncio.run(read())) == len(chunks)


def test_answers_other_paths(story, vectors):
    text = story.openai.completions.create(prompt="Once upon a time", **GREEDY).choices[0].text
    assert text.startswith(", there lived")
    assert story.openai.responses.create(input="Hello", temperature=0, max_output_tokens=16).object == "response"
    assert [model.id for model in story.openai.models] == ["storyteller"]
    assert [part.type for part in story.openai.call("/v1/messages", {"messages": MESSAGES, "max_tokens": 4})] == ["message"]
    made = vectors.openai.embeddings.create(input=["A fox", "The sea"])
    assert [len(one.embedding) for one in made.data] == [vectors.details.dimensions] * 2


def test_raises_what_the_server_answers_with_an_error(story):
    with pytest.raises(tokamak.AnswerError) as raised:
        story.openai.chat.completions.create(messages="none")
    assert (raised.value.status, raised.value.code) == (400, tokamak.ErrorCode.INVALID_INPUT)
    with pytest.raises(tokamak.AnswerError) as raised:
        story.openai.chat.completions.create(messages=MESSAGES, model="another")
    assert (raised.value.status, raised.value.code) == (404, tokamak.ErrorCode.USAGE)
    with pytest.raises(tokamak.AnswerError, match="nothing at"):
        list(story.openai.call("/v1/none", {}))


def test_a_cancelled_stream_ends(story):
    stream = story.openai.completions.create(prompt="Once", max_tokens=400, stream=True, ignore_eos=True)
    next(stream)
    stream.cancel()
    with pytest.raises(tokamak.AnswerError) as raised:
        list(stream)
    assert raised.value.code == tokamak.ErrorCode.CANCELLED


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def test_serves_what_is_answered_without_a_server(story):
    server = tokamak.serve(STORYTELLER, backend="cpu", context=512)
    with server as url:
        body = {"messages": MESSAGES, **GREEDY}
        served = post(url + "/v1/chat/completions", body)
        own = story.openai.chat.completions.create(**body)
        different = {"id", "created", "system_fingerprint"}
        assert {k: v for k, v in served.items() if k not in different} == {k: v for k, v in own.items() if k not in different}
        process = server._process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert server._process.returncode in (0, -signal.SIGTERM)


def test_a_server_that_does_not_start_says_why():
    with pytest.raises(tokamak.Error, match="no/such/folder"):
        tokamak.serve("no/such/folder", backend="cpu")
    with pytest.raises(tokamak.Error, match="--colour"):
        tokamak.serve(STORYTELLER, colour="red")
