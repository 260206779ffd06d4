#!/usr/bin/env python3
"""How fast transformers does what `tokamak bench` measures of models that see, hear, embed or rank, on the same checkpoint
and GPU, compiled by torch.compile. Prints a line for each MODEL; needs torch and transformers.

  bench/transformers_speed.py path/to/bge path/to/whisper path/to/gemma
"""
import argparse
import json
import os
import statistics
import time

import torch
import transformers
from transformers.generation import GenerationMixin

IMAGE_TEXT = 16  # tokens of the question about an image
RATE = 16000


def seconds_of(work, repetitions):
    for _ in range(3):  # the first ones compile
        work()
    times = []
    for _ in range(repetitions):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure_texts(path, config, options):
    ranks = any("SequenceClassification" in name for name in config["architectures"])
    kind = transformers.AutoModelForSequenceClassification if ranks else transformers.AutoModel
    model = kind.from_pretrained(path, dtype=torch.float16).cuda().eval()
    ids = torch.randint(1000, config["vocab_size"], (options.texts, options.text_tokens), device="cuda")
    mask = torch.ones_like(ids)
    best = None
    for batch in (64, 128, 512):
        compiled = torch.compile(model, mode="reduce-overhead", dynamic=False)

        def work(batch=batch, compiled=compiled):
            for first in range(0, len(ids), batch):
                torch.compiler.cudagraph_mark_step_begin()
                out = compiled(input_ids=ids[first:first + batch], attention_mask=mask[first:first + batch])
                (out.logits if ranks else out.last_hidden_state.mean(1)).float().cpu()

        speed = len(ids) / seconds_of(work, options.repetitions)
        best = max(best or (speed, batch), (speed, batch))
    return f"{best[0]:.0f} {'pairs' if ranks else 'texts'}/s in batches of {best[1]}"


def measure_speech(path, config, options):
    is_whisper = config["model_type"] == "whisper"
    kind = transformers.WhisperForConditionalGeneration if is_whisper else transformers.MoonshineForConditionalGeneration
    model = kind.from_pretrained(path, dtype=torch.float16).cuda().eval()
    sound = torch.randn(int(options.seconds * RATE)).numpy() * 0.1
    features = transformers.WhisperFeatureExtractor(feature_size=config.get("num_mel_bins", 80))
    start = torch.tensor([[config["decoder_start_token_id"]]], device="cuda")

    def inputs():
        if not is_whisper:
            return torch.from_numpy(sound).to("cuda", torch.float16)[None]
        made = features(sound, sampling_rate=RATE, return_tensors="pt", device="cuda")
        return made.input_features.to("cuda", torch.float16)

    def work(count):
        return GenerationMixin.generate(
            model, inputs(), decoder_input_ids=start, max_new_tokens=count, min_new_tokens=count, do_sample=False,
            cache_implementation=cache, generation_config=transformers.GenerationConfig(
                decoder_start_token_id=config["decoder_start_token_id"], pad_token_id=0, eos_token_id=None))

    results = []
    for cache in ("static", None):  # compiled, and as it is
        try:
            whole = seconds_of(lambda: work(options.heard_tokens), options.repetitions)
            first = seconds_of(lambda: work(1), options.repetitions)
            results.append(f"{options.seconds / whole:.1f} x real time ({cache or 'dynamic'} cache), token after {1e3 * first:.1f} ms")
        except Exception as error:  # which caches a model takes depends on the version
            results.append(f"{cache or 'dynamic'} cache: {type(error).__name__} {str(error)[:120]}")
    return "; ".join(results)


def measure_images(path, config, options):
    model = transformers.AutoModelForImageTextToText.from_pretrained(path, dtype=torch.bfloat16).cuda().eval()
    side, count = config["vision_config"]["image_size"], config["mm_tokens_per_image"]
    image = torch.randn(1, 3, side, side, device="cuda", dtype=torch.bfloat16)
    ids = torch.cat([torch.full((1, count), config["image_token_index"]), torch.randint(10, 1000, (1, IMAGE_TEXT))], 1).cuda()
    kinds = torch.zeros_like(ids)
    kinds[:, :count] = 1
    results = []
    for name, run in (("compiled", torch.compile(model, dynamic=False)), ("eager", model)):
        def work(run=run):
            run(input_ids=ids, pixel_values=image, token_type_ids=kinds, logits_to_keep=1).logits.argmax(-1).cpu()
        results.append(f"{1e3 * seconds_of(work, options.repetitions):.1f} ms to the first token ({name})")
    return "; ".join(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--text-tokens", type=int, default=128)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--heard-tokens", type=int, default=128)
    parser.add_argument("-r", "--repetitions", type=int, default=5)
    options = parser.parse_args()
    print(f"transformers {transformers.__version__}, torch {torch.__version__}, {torch.cuda.get_device_name()}")
    torch.set_float32_matmul_precision("high")
    for path in options.models:
        with open(os.path.join(path, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        measure = measure_texts
        if config["model_type"] in ("whisper", "moonshine"):
            measure = measure_speech
        elif "vision_config" in config:
            measure = measure_images
        with torch.inference_mode():
            print(f"{os.path.basename(path)}: {measure(path, config, options)}", flush=True)


if __name__ == "__main__":
    main()
