#!/usr/bin/env python3
"""Gives damaged models that hear or speak, and damaged codecs, to the built program.

Run by CTest; by hand as tests/cli/cli_test.py.
"""
import json
import os
import pathlib
import shutil
import struct
import unittest

from malformed_test import CPU, MEMORY, SECONDS, Refusals, program, tokamak  # noqa: I001  it finds the others
import speak_test
import transcribe_test
from speak_test import SPEECH

WEIGHTS, CONFIG, GENERATION = "model.safetensors", "config.json", "generation_config.json"
WAV = os.path.join(SPEECH, "moonshine", "audio0.wav")
VOCABULARIES = {"whisper": 480, "moonshine": 512, "moonshine_streaming": 320}
WITHOUT = object()


def fields(file, **changes):
    """Changes members of a JSON file; a name may have dots. WITHOUT takes one away."""

    def damage(folder):
        path = folder / file
        config = json.loads(path.read_text())
        for name, value in changes.items():
            *places, last = name.split(".")
            inner = config
            for place in places:
                inner = inner[place]
            if value is WITHOUT:
                del inner[last]
            else:
                inner[last] = value
        path.write_text(json.dumps(config))

    return damage


def config(**changes):
    return fields(CONFIG, **changes)


def tensor(name, change):
    """`change` gets the header of the weights and the tensor's entry in it; the data stay."""

    def damage(folder):
        path = folder / WEIGHTS
        raw = path.read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        header = json.loads(raw[8:8 + length])
        change(header, name)
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + length:])

    return damage


def without(name):
    """It has another name, since no byte of the data may belong to nobody."""
    return tensor(name, lambda header, own: header.update({"other": header.pop(own)}))


def turned(name):
    """Its shape backwards."""
    return tensor(name, lambda header, own: header[own]["shape"].reverse())


def cut(file, size):
    def damage(folder):
        path = folder / file
        path.write_bytes(path.read_bytes()[:size])

    return damage


def nemo(change):
    """Of a codec only the .nemo file stays, changed."""

    def damage(folder):
        raw = (folder / "tiny-codec.nemo").read_bytes()
        for file in folder.iterdir():
            file.unlink()
        (folder / "tiny-codec.nemo").write_bytes(change(raw))

    return damage


def swapped(before, after):
    def change(raw):
        assert before in raw and len(before) == len(after), before
        return raw.replace(before, after, 1)

    return change


def cases():
    """name -> (model, how it is damaged, what the error must name)"""
    encoder, codec = "model.encoder.", "audio_decoder."
    half = codec + "pre_conv.conv.bias"
    return {
        "whisper-no-layers": ("whisper", config(encoder_layers=0), [CONFIG, "encoder_layers"]),
        "whisper-heads": ("whisper", config(decoder_attention_heads=3), [CONFIG, "3 heads of 64"]),
        "whisper-no-width": ("whisper", config(d_model=WITHOUT), [CONFIG, "d_model"]),
        "whisper-window": ("whisper", config(max_source_positions=10**6), [CONFIG, "1000000 rows"]),
        "whisper-activation": ("whisper", config(activation_function="swoosh"), [CONFIG, "swoosh"]),
        "whisper-bins": ("whisper", config(num_mel_bins=128), [WEIGHTS, encoder + "conv1.weight", "[64, 80, 3]", "64 rows of 384"]),
        "whisper-positions": ("whisper", config(max_target_positions=65), ["decoder.embed_positions.weight", "[64, 64]", "[65, 64]"]),
        "whisper-no-start": ("whisper", config(decoder_start_token_id=480), [CONFIG, "decoder_start_token_id", "480"]),
        "whisper-language": ("whisper", fields(GENERATION, lang_to_id={"<|en|>": 4000}), [GENERATION, "4000"]),
        "whisper-no-timestamps": ("whisper", fields(GENERATION, no_timestamps_token_id=WITHOUT),
                                  [GENERATION, "no_timestamps_token_id"]),
        "whisper-suppressed": ("whisper", fields(GENERATION, suppress_tokens=[-1]), [GENERATION, "suppress_tokens", "-1"]),
        "whisper-lacks-convolution": ("whisper", without(encoder + "conv2.weight"), [encoder + "conv2.weight"]),
        "whisper-turned-convolution": ("whisper", turned(encoder + "conv1.weight"),
                                       [WEIGHTS, encoder + "conv1.weight", "[3, 80, 64]", "64 rows of 240"]),
        "whisper-cut-weights": ("whisper", cut(WEIGHTS, 1000), [WEIGHTS]),
        "moonshine-rotary": ("moonshine", config(partial_rotary_factor=2), [CONFIG, "partial_rotary_factor"]),
        "moonshine-heads": ("moonshine", config(encoder_num_attention_heads=5), [CONFIG, "5"]),
        "moonshine-no-start": ("moonshine", config(decoder_start_token_id=512), [CONFIG, "decoder_start_token_id", "512"]),
        "moonshine-no-positions": ("moonshine", config(max_position_embeddings=0), [CONFIG, "max_position_embeddings"]),
        "moonshine-lacks-norm": ("moonshine", without(encoder + "groupnorm.weight"), [encoder + "groupnorm.weight"]),
        "moonshine-half-a-config": ("moonshine", cut(CONFIG, 200), [CONFIG]),
        "streaming-no-encoder": ("moonshine_streaming", config(encoder_config=WITHOUT), [CONFIG, "encoder_config"]),
        "streaming-no-start": ("moonshine_streaming", config(decoder_start_token_id=320),
                               [CONFIG, "decoder_start_token_id", "320"]),
        "streaming-few-windows": ("moonshine_streaming", config(**{"encoder_config.sliding_windows": [[8, 4]]}),
                                  [CONFIG, "sliding_windows"]),
        "streaming-window-of-one": ("moonshine_streaming", config(**{"encoder_config.sliding_windows": [[8]] * 3}),
                                    [CONFIG, "sliding_windows"]),
        "streaming-rate": ("moonshine_streaming", config(**{"encoder_config.sample_rate": 8000}), [CONFIG, "80 samples"]),
        "kani-no-audio": ("kani_tts2", config(audio_tokens_start=WITHOUT), [CONFIG, "audio_tokens_start"]),
        "kani-audio-beyond": ("kani_tts2", config(audio_tokens_start=690), [CONFIG, "690"]),
        "kani-no-groups": ("kani_tts2", config(tokens_per_frame=0), [CONFIG, "tokens_per_frame"]),
        "kani-groups": ("kani_tts2", config(tokens_per_frame=7), [CONFIG, "7"]),
        "kani-step": ("kani_tts2", config(audio_step="far"), [CONFIG, "audio_step", "far"]),
        "kani-lacks-alpha": ("kani_tts2", without("model.learnable_rope_layers.1.alpha_weight"),
                             ["model.learnable_rope_layers.1.alpha_weight"]),
        "kani-turned-speakers": ("kani_tts2", turned("model.speaker_emb_projection.weight"),
                                 [WEIGHTS, "model.speaker_emb_projection.weight"]),
        "codec-groups": ("nanocodec", config(**{"vector_quantizer.num_groups": 3}), [CONFIG, "input_dim"]),
        "codec-of-another-model": ("nanocodec", config(**{"vector_quantizer.num_levels_per_group": [5, 4, 3, 3]}),
                                   ["frames of 4 codes out of 120", "4 out of 180"]),
        "codec-levels": ("nanocodec", config(**{"vector_quantizer.num_levels_per_group": [4096] * 4}),
                         [CONFIG, "num_levels_per_group"]),
        "codec-rates": ("nanocodec", config(**{"audio_decoder.up_sample_rates": [7, 6, 4]}), [CONFIG, "samples_per_frame"]),
        "codec-activation": ("nanocodec", config(**{"audio_decoder.activation": "snake"}), [CONFIG, "activation", "snake"]),
        "codec-lacks-bias": ("nanocodec", without(half), [half]),
        "codec-no-config": ("nanocodec", lambda folder: [path.unlink() for path in folder.iterdir()], []),
        "codec-cut-nemo": ("nanocodec", nemo(lambda raw: raw[:len(raw) // 2]), ["tiny-codec.nemo"]),
        "codec-empty-nemo": ("nanocodec", nemo(lambda raw: b""), ["tiny-codec.nemo"]),
        "codec-pickle-with-code": ("nanocodec", nemo(swapped(b"_rebuild_tensor_v2", b"_rebuild_tensor_v9")),
                                   ["tiny-codec.nemo", "_rebuild_tensor_v9"]),
    }


# The folders that are well formed but nothing this program runs.
WELL_FORMED = ("whisper-window", "whisper-activation", "moonshine-heads", "streaming-rate", "codec-activation",
               "codec-pickle-with-code")


class MalformedSpeech(Refusals):
    prefix = "36-"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.whole = {name: pathlib.Path(transcribe_test.make_model(name, vocab)) for name, vocab in VOCABULARIES.items()}
        cls.whole["kani_tts2"] = pathlib.Path(speak_test.make_model(cls.folder))
        cls.whole["nanocodec"] = pathlib.Path(SPEECH) / "nanocodec"

    @classmethod
    def tearDownClass(cls):
        for name in VOCABULARIES:
            shutil.rmtree(cls.whole[name])
        super().tearDownClass()

    def is_well_formed(self, name):
        return name in WELL_FORMED

    def ask(self, model, folder):
        if model in VOCABULARIES:
            return tokamak("transcribe", folder, WAV, *CPU, timeout=SECONDS, memory=MEMORY)
        parts = self.whole | {model: folder}
        return tokamak("speak", parts["kani_tts2"], "Hello", "-o", self.folder / "x.wav", "--codec", parts["nanocodec"],
                       "--max-tokens", "8", "--seed", "1", *CPU, timeout=SECONDS, memory=MEMORY)

    def test_every_case(self):
        for name, (model, damage, mentions) in cases().items():
            with self.subTest(name):
                folder = self.folder / name
                shutil.copytree(self.whole[model], folder)
                damage(folder)
                self.check_refusal(name, self.ask(model, folder), [str(folder), *mentions])

    def test_the_whole_models_are_accepted(self):
        for model, folder in self.whole.items():
            answer = self.ask(model, folder)
            self.assertEqual((answer.status, answer.errors), (0, []), answer)


if __name__ == "__main__":
    program.main(unittest)
