"""Recordings to transcripts, and texts to speech."""
import json
import shutil

import pytest
import tokamak

from conftest import DATA

try:
    import numpy
except ImportError:
    numpy = None

SPEECH = DATA / "speech"


def with_tokenizer(folder, name, tokenizer):
    """A recorded model in a folder of its own, with a tokenizer."""
    folder.mkdir()
    for path in (SPEECH / name).iterdir():
        if not path.name.startswith(("golden", "audio")):
            shutil.copy(path, folder)
    (folder / "tokenizer.json").write_text(json.dumps({"normalizer": None, "post_processor": None, **tokenizer}))
    return folder


@pytest.fixture(scope="module")
def ears(tmp_path_factory):
    words = [f"<{i}>" for i in range(480)]
    added = [{"id": i, "content": word, "special": False, "normalized": False, "lstrip": False, "rstrip": False,
              "single_word": False} for i, word in enumerate(words)]
    tokenizer = {"added_tokens": added, "pre_tokenizer": None, "decoder": None,
                 "model": {"type": "BPE", "vocab": {word: i for i, word in enumerate(words)}, "merges": []}}
    folder = with_tokenizer(tmp_path_factory.mktemp("ears") / "model", "whisper", tokenizer)
    with tokamak.open(folder, backend="cpu") as model:
        yield model


@pytest.fixture(scope="module")
def mouth(tmp_path_factory):
    letters = {3: "\u0120"} | {i: chr(i) for i in range(33, 127)}
    tokenizer = {"added_tokens": [], "decoder": {"type": "ByteLevel"},
                 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
                 "model": {"type": "BPE", "vocab": {letters.get(i, f"<{i}>"): i for i in range(690)}, "merges": []}}
    folder = with_tokenizer(tmp_path_factory.mktemp("mouth") / "model", "kani_tts2", tokenizer)
    with tokamak.open(folder, backend="cpu") as model:
        yield model


def test_transcribes_files_bytes_and_samples(ears):
    file = SPEECH / "whisper" / "audio0.wav"
    seen = []
    whole = ears.transcribe(file, language="en", fallback=False, on_segment=seen.append)
    assert whole.text and str(whole) == whole.text and whole.language == "en"
    assert [segment.text for segment in seen] == [segment.text for segment in whole.segments]
    assert ears.transcribe(file.read_bytes(), language="en", fallback=False).text == whole.text
    assert json.loads(whole.format("json"))["text"] == whole.text and whole.format("srt").startswith("1\n")
    with pytest.raises(tokamak.Error, match="doc"):
        whole.format("doc")
    assert isinstance(ears.transcribe([0.0] * 1600, language="en", fallback=False).text, str)
    if numpy is not None:
        silence = numpy.zeros(3200)  # float64, of which each second number is taken
        assert isinstance(ears.transcribe(silence[::2], language="en", fallback=False).text, str)
        with pytest.raises(tokamak.Error, match="2 dimensions"):
            ears.transcribe(silence.reshape(2, -1))
    with pytest.raises(tokamak.Error):
        ears.transcribe(b"no sound")


def test_what_a_segment_callback_raises_ends_the_call(ears):
    def fail(segment):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ears.transcribe(SPEECH / "whisper" / "audio0.wav", language="en", fallback=False, on_segment=fail)


def test_speaks(mouth, tmp_path):
    seen = []
    speech = mouth.speak("Hello", codec=str(SPEECH / "nanocodec"), max_tokens=24, seed=1,
                         on_samples=lambda samples, rate: seen.append((len(samples), rate)))
    assert speech.rate > 8000 and len(speech.samples) == sum(count for count, _ in seen) > 0
    assert len(speech.encode("pcm")) == 2 * len(speech.samples)
    speech.save(tmp_path / "hello.flac")
    assert (tmp_path / "hello.flac").read_bytes().startswith(b"fLaC")
    samples = speech.samples
    first = list(samples[:5])
    del speech
    assert list(samples[:5]) == first
    with pytest.raises(tokamak.Error, match="speaker|voice"):
        mouth.speak("Hello", codec=str(SPEECH / "nanocodec"), speaker=[1.0, 2.0])
