#!/usr/bin/env python3
"""How fast llama.cpp does what `tokamak bench` measures of models that write, on the same GGUF file and GPU. Loads llama.cpp's own
shared libraries, of the release v0.5.0 as the npm packages @node-llama-cpp/linux-x64-cuda, -vulkan and -linux-x64 3.22.1 have them; a library
whose llama.h is another is refused. Prints a line for each test: the median, the spread, every run. Needs Python alone.

  npm pack @node-llama-cpp/linux-x64-cuda@3.22.1 && tar xzf node-llama-cpp-linux-x64-cuda-3.22.1.tgz
  bench/llama_speed.py --libraries package/bins/linux-x64-cuda path/to/model.gguf
  bench/llama_speed.py --libraries FOLDER path/to/model.gguf --tokens 3,4,5 --steps 8

The second form measures nothing: it prints greedy ids and logits, as `tokamak logits MODEL --tokens 3,4,5 --steps 8 --json` does.
"""
import argparse
import ctypes
import json
import pathlib
import random
import statistics
import sys
import time
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int, c_int32, c_size_t, c_uint32, c_void_p

FLASH_ATTENTION = 1
LOUD = (3, 4)  # ggml's levels of warnings and errors


def structure(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": [(field, kind) for kind, names in fields for field in names.split()]})


# The structures as llama.h of v0.5.0 declares them.
ModelParams = structure(
    "ModelParams", (c_void_p, "devices overrides"), (c_int32, "n_gpu_layers split_mode load_mode lazy_mode main_gpu"),
    (c_void_p, "tensor_split progress progress_data kv_overrides"),
    (c_bool, "vocab_only check_tensors use_extra_bufts no_host no_alloc load_mtp"))
ContextParams = structure(
    "ContextParams", (c_uint32, "n_ctx n_batch n_ubatch n_seq_max n_rs_seq n_outputs_max n_outputs_max_per_seq"),
    (c_int32, "n_threads n_threads_batch ctx_type rope_scaling pooling attention flash_attention"),
    (c_float, "rope_base rope_scale yarn_extrapolation yarn_attention yarn_fast yarn_slow"), (c_uint32, "yarn_original"),
    (c_float, "defragment"), (c_void_p, "eval eval_data"), (c_int32, "type_k type_v"), (c_void_p, "abort abort_data"),
    (c_bool, "embeddings offload_kqv no_perf op_offload swa_full kv_unified"), (c_void_p, "samplers"), (c_size_t, "n_samplers"),
    (c_void_p, "other"))
Batch = structure("Batch", (c_int32, "n_tokens"), (POINTER(c_int32), "token"), (c_void_p, "embd pos n_seq_id seq_id logits"))
LOGGER = ctypes.CFUNCTYPE(None, c_int, c_char_p, c_void_p)


@LOGGER
def log(level, text, _):
    if level in LOUD:
        sys.stderr.write(text.decode(errors="replace"))


def load(folder):
    """-> (libllama, libggml) of a folder, with the backends that lie there."""
    def only(stem):
        found = [path for path in sorted(folder.glob(stem + "*.so")) if path.name.split(".")[0] == stem]
        if not found:
            raise SystemExit(f"error: {folder} has no {stem}.so.")
        return ctypes.CDLL(str(found[0].resolve()), mode=ctypes.RTLD_GLOBAL)

    ggml, llama = only("libggml"), only("libllama")
    for library, name, result, arguments in [
            (ggml, "ggml_backend_load_all_from_path", None, [c_char_p]), (ggml, "ggml_backend_dev_count", c_size_t, []),
            (ggml, "ggml_backend_dev_get", c_void_p, [c_size_t]), (ggml, "ggml_backend_dev_name", c_char_p, [c_void_p]),
            (ggml, "ggml_backend_dev_description", c_char_p, [c_void_p]), (llama, "llama_log_set", None, [LOGGER, c_void_p]),
            (llama, "llama_version", c_char_p, []), (llama, "llama_model_default_params", ModelParams, []),
            (llama, "llama_context_default_params", ContextParams, []),
            (llama, "llama_model_load_from_file", c_void_p, [c_char_p, ModelParams]),
            (llama, "llama_init_from_model", c_void_p, [c_void_p, ContextParams]), (llama, "llama_free", None, [c_void_p]),
            (llama, "llama_get_memory", c_void_p, [c_void_p]), (llama, "llama_memory_clear", None, [c_void_p, c_bool]),
            (llama, "llama_decode", c_int32, [c_void_p, Batch]), (llama, "llama_synchronize", None, [c_void_p]),
            (llama, "llama_get_logits_ith", POINTER(c_float), [c_void_p, c_int32]),
            (llama, "llama_model_get_vocab", c_void_p, [c_void_p]), (llama, "llama_vocab_n_tokens", c_int32, [c_void_p])]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    llama.llama_log_set(log, None)
    ggml.ggml_backend_load_all_from_path(str(folder).encode())
    model, context = llama.llama_model_default_params(), llama.llama_context_default_params()
    known = (model.n_gpu_layers, model.use_extra_bufts, context.n_batch, context.n_ubatch, context.flash_attention,
             context.defragment, context.type_k, context.offload_kqv, context.n_samplers, context.other)
    if known != (-1, True, 2048, 512, -1, -1.0, 1, True, 0, None):
        raise SystemExit(f"error: {folder} has llama.cpp {llama.llama_version().decode()}, whose parameters are not those of v0.5.0.")
    return llama, ggml


class Llama:
    """One model of one library."""

    def __init__(self, llama, path, options):
        self.llama, self.options = llama, options
        params = llama.llama_model_default_params()
        params.n_gpu_layers = options.gpu_layers
        self.model = llama.llama_model_load_from_file(str(path).encode(), params)
        if not self.model:
            raise SystemExit(f"error: llama.cpp does not load {path}.")
        self.vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(self.model))
        self.context = None

    def open(self, positions):
        """A context as llama-bench makes it: no larger than the test needs."""
        if self.context:
            self.llama.llama_free(self.context)
        params = self.llama.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = positions, max(positions, 1), self.options.ubatch
        params.n_threads = params.n_threads_batch = self.options.threads
        params.flash_attention, params.swa_full = FLASH_ATTENTION, False
        self.context = self.llama.llama_init_from_model(self.model, params)
        if not self.context:
            raise SystemExit(f"error: llama.cpp makes no context of {positions} positions.")

    def clear(self):
        self.llama.llama_memory_clear(self.llama.llama_get_memory(self.context), True)

    def feed(self, tokens):
        """All of a ctypes array in one batch; logits of the last one."""
        done = self.llama.llama_decode(self.context, Batch(len(tokens), tokens))
        if done:
            raise SystemExit(f"error: llama_decode of {len(tokens)} tokens returns {done}.")
        self.llama.llama_synchronize(self.context)

    def logits(self):
        return self.llama.llama_get_logits_ith(self.context, -1)[:self.vocabulary]

    def random_tokens(self, count):
        return (c_int32 * count)(*(random.randrange(self.vocabulary) for _ in range(count)))


def seconds(repetitions, prepare, work):
    """Of each repetition after one that warms up."""
    times = []
    for _ in range(repetitions + 1):
        prepare()
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return times[1:]


def show(test, tokens, times):
    speeds = [tokens / one for one in times]
    median = statistics.median(speeds)
    print(f"{test}: {median:.1f} tok/s, spread {100 * (max(speeds) - min(speeds)) / median:.1f}%  "
          f"({' '.join(f'{one:.1f}' for one in speeds)})", flush=True)


def measure(model, options):
    for count in options.prompts:
        if count:
            model.open(count)
            prompt = model.random_tokens(count)
            show(f"pp{count}", count, seconds(options.repetitions, model.clear, lambda: model.feed(prompt)))
    if options.tokens_after:
        model.open(options.depth + options.tokens_after)
        before = model.random_tokens(options.depth)
        after = [model.random_tokens(1) for _ in range(options.tokens_after)]

        def prepare():
            model.clear()
            if options.depth:
                model.feed(before)

        def work():
            for token in after:
                model.feed(token)

        show(f"tg{options.tokens_after} @ d{options.depth}", options.tokens_after, seconds(options.repetitions, prepare, work))


def compare(model, options):
    """Prints what `tokamak logits --json` prints of the same tokens."""
    model.open(len(options.tokens) + options.steps)
    model.feed((c_int32 * len(options.tokens))(*options.tokens))
    logits = now = model.logits()
    greedy = []
    for _ in range(options.steps):
        greedy.append(max(range(model.vocabulary), key=now.__getitem__))
        model.feed((c_int32 * 1)(greedy[-1]))
        now = model.logits()
    print(json.dumps({"logits": logits, "greedy": greedy}))


def numbers(text):
    return [int(one) for one in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL", type=pathlib.Path)
    parser.add_argument("--libraries", metavar="FOLDER", type=pathlib.Path, required=True, help="of libllama, libggml and the backends")
    parser.add_argument("-p", "--prompts", type=numbers, default=[512, 4096], metavar="N,N", help="tokens of prompts (default: 512,4096)")
    parser.add_argument("-n", "--tokens-after", type=int, default=128, metavar="N", help="tokens one by one (default: 128)")
    parser.add_argument("-d", "--depth", type=int, default=512, metavar="N", help="positions before them (default: 512)")
    parser.add_argument("-r", "--repetitions", type=int, default=5)
    parser.add_argument("--ubatch", type=int, default=512, metavar="N", help="tokens of a prompt in one step (default: 512)")
    parser.add_argument("--threads", type=int, default=8, metavar="N")
    parser.add_argument("--gpu-layers", type=int, default=99, metavar="N")
    parser.add_argument("--tokens", type=numbers, metavar="IDS", help="print logits after these, and no speed")
    parser.add_argument("--steps", type=int, default=0, metavar="N", help="greedy tokens after them")
    options = parser.parse_args()
    llama, ggml = load(options.libraries)
    model = Llama(llama, options.model, options)
    if options.tokens:
        compare(model, options)
        return
    devices = [ggml.ggml_backend_dev_get(i) for i in range(ggml.ggml_backend_dev_count())]
    print(f"llama.cpp {llama.llama_version().decode()}; devices: " + ", ".join(
        f"{ggml.ggml_backend_dev_name(one).decode()} ({ggml.ggml_backend_dev_description(one).decode()})" for one in devices), flush=True)
    random.seed(1)
    measure(model, options)


if __name__ == "__main__":
    main()
