#!/usr/bin/env python3
"""What every command of the program prints, and how it fails.

Run by CTest; by hand:
  TOKAMAK_PROGRAM=build/release/bin/tokamak TOKAMAK_SOURCE_DIR=. python3 tests/cli/cli_test.py
"""
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import program
from program import DATA, environment, model, on_terminal, tokamak

CPU = ("--backend", "cpu")
REFERENCE = ("--backend", "cpu-reference")
COMMANDS = [
    "run", "chat", "describe", "transcribe", "speak", "talk", "embed", "rerank", "memory", "logits", "perplexity", "compare", "tokenize", "template", "inspect", "bench", "doctor",
    "profile", "tune", "quantize", "imatrix", "merge",
    "sampler", "pull", "list", "rm", "cache",
]
STORYTELLER = os.path.join(program.SOURCE, "models", "storyteller")
STORY = ("run", "-p", "Once upon a time", *CPU)
NO_GPU = environment(
    VK_DRIVER_FILES="/nonexistent", VK_ADD_DRIVER_FILES=None, VK_ICD_FILENAMES=None
)


def golden(*path):
    with open(os.path.join(DATA, *path), encoding="utf-8") as file:
        return json.load(file)


def story_case(prompt):
    """What the built-in model answers to `prompt`."""
    return next(c for c in golden("storyteller", "golden.json")["cases"] if c["prompt"] == prompt)


class Cli(unittest.TestCase):
    def ok(self, *arguments, **options):
        answer = tokamak(*arguments, **options)
        self.assertEqual(answer.status, 0, answer)
        self.assertEqual(answer.errors, [], answer)
        return answer

    def refused(self, status, mentions, *arguments, **options):
        """One line that says what is wrong, and this exit status."""
        answer = tokamak(*arguments, **options)
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(len(answer.errors), 1, answer)
        self.assertEqual(answer.other, [], answer)
        for mention in [mentions] if isinstance(mentions, str) else mentions:
            self.assertIn(mention, answer.errors[0])
        return answer

    def has_webgpu(self):
        if tokamak("run", "-p", "x", "-n", 1, "--backend", "webgpu").status == 5:
            self.assertNotIn("TOKAMAK_REQUIRE_GPU", os.environ, "there is no WebGPU device")
            self.skipTest("there is no WebGPU device")


class Usage(Cli):
    def test_help_of_every_command_shows_an_example(self):
        for command in COMMANDS:
            with self.subTest(command):
                answer = self.ok(command, "--help")
                self.assertIn(f"tokamak {command}", answer.out)
                self.assertIn("Example", answer.out)
        answer = self.ok("--help")
        for command in COMMANDS:
            self.assertIn(f"  {command} ", answer.out)

    def test_help_and_version_go_by_all_their_names(self):
        version = self.ok("--version").out
        self.assertRegex(version, r"^tokamak \d+\.\d+\.\d+\n$")
        self.assertEqual({self.ok(word).out for word in ("-v", "version")}, {version})
        self.assertEqual(self.ok("help").out, self.ok("-h").out)
        texts = {self.ok(*words).out for words in
                 (("help", "run"), ("run", "-h"), ("run", "--help"), ("run", "-p", "x", "--help"))}
        self.assertEqual(len(texts), 1)
        self.refused(2, '"frobnicate" is not a command', "help", "frobnicate")

    def test_help_is_for_users_first_and_for_developers_on_request(self):
        short, whole = (self.ok("run", flag).out for flag in ("--help", "--help-all"))
        for option in ("--force", "--trace-kernels", "--no-self-test", "--chunk"):
            self.assertNotIn(option, short)
            self.assertIn(option, whole)
        self.assertIn("--help-all", short)
        self.assertLess(short.index("--prompt"), short.index("--backend"))
        for command in COMMANDS:
            for line in self.ok(command, "--help-all").out.splitlines():
                self.assertLessEqual(len(line), 100, line)
                self.assertNotRegex(line, "UINT|INT:|FLOAT|Needs:|Excludes:")

    def test_unknown_words_are_named(self):
        self.refused(2, '"frobnicate"', "frobnicate")
        for command in COMMANDS:
            with self.subTest(command):
                self.refused(2, f'"--frobnicate" is not an option of tokamak {command}', command,
                             "--frobnicate")

    def test_what_somebody_may_have_meant(self):
        for words, meant in [
            (("chatt",), "chat"),
            (("verson",), "version"),
            (("run", "-p", "x", "--temprature", "1"), "--temperature"),
            (("run", "-p", "x", "-temp", "1"), "--temp"),
            (("pull", "--mdel", "a/b"), "--model"),
        ]:
            self.refused(2, f", did you mean {meant}?", *words)

    def test_missing_options_are_named(self):
        self.refused(2, "--prompt", "run")
        self.refused(2, "--tokens is missing", "logits", model("llama_untied"))
        self.refused(2, "MODEL is missing", "embed", "-p", "x")
        self.refused(2, "--prompt needs a value (TEXT)", "run", "--prompt")

    def test_a_mistake_has_one_form(self):
        """The option, what it is, what was expected, where that is explained."""
        nowhere = ("run", "/nonexistent", "-p", "x")  # found before any model is looked for
        for flags, expected in [
            (("--temp", "-1"), '--temp is "-1", expected a number from 0 to 1000000'),
            (("--temp", "nan"), '--temp is "nan", expected a number from 0 to 1000000'),
            (("--top-p=2",), '--top-p is "2", expected a number above 0 and at most 1'),
            (("--min-p", "1.5"), '--min-p is "1.5", expected a number from 0 to 1'),
            (("--typical-p", "0"), '--typical is "0", expected a number above 0 and at most 1'),
            (("--repetition-penalty", "0"),
             '--repeat-penalty is "0", expected a number from 0.01 to 100'),
            (("-n", "-5"), '--max-tokens is "-5", expected a whole number from -1 to 2147483647'),
            (("-n5x",), '--max-tokens is "5x", expected a whole number from -1 to 2147483647'),
            (("--context", "0"), '--context is "0", expected a whole number from 1 to 16777216'),
            (("-c=x",), '--context is "x", expected a whole number from 1 to 16777216'),
            (("--seed", "-1"), '--seed is "-1", expected a whole number from 0 to'),
            (("--kv", "q4"), '--kv is "q4", expected auto, f32, f16 or q8'),
            (("--quantize", "q5"), '--quantize is "q5", expected q8 or q4'),
            (("--backend", "metal"), '--backend is "metal", expected auto, cuda, webgpu, cpu or cpu-reference'),
            (("--disable-pass", "frob"), '--disable-pass is "frob", expected '),
            (("--force", "linear"), '--force is "linear", expected op=variant'),
            (("--force", "linaer=x"), "--force: "),
            (("-p", "y"), "--prompt is given 2 times, expected once"),
            (("--logprobs", "3"), "--logprobs does nothing without --json"),
            (("--system", "x"), "--system does nothing without --chat"),
            (("--chat-template", "x"), "--chat-template does nothing without --chat"),
            (("-f", "x"), "--file does not go with --prompt"),
            (("-hf", "a/b"), "--hf-repo does not go with MODEL"),
            (("--json=maybe",), '--json is "maybe", expected no value'),
            (("--grammar", 'root ::= ("a"'), '--grammar: line 1: Expected ")", but the text ends'),
            (("--grammar", "root ::= "), "--grammar: root describes nothing but the empty text"),
            (("--regex", "a("), '--regex: character 3 of the expression: expected ")"'),
            (("--regex", "a", "--grammar", 'root ::= "a"'), "--regex does not go with --grammar"),
            (("hello",), '"hello" is a word too many: MODEL is "/nonexistent"; a prompt is given by'),
            (("--device", "0", "--backend", "cpu"), "--device chooses a WebGPU or CUDA device"),
        ]:
            with self.subTest(flags):
                answer = self.refused(2, expected, *nowhere, *flags)
                self.assertTrue(answer.errors[0].endswith(" (see tokamak run --help)"), answer)
        for flags, expected in [
            (("--grammar", "@nowhere.gbnf"), "--grammar: nowhere.gbnf: "),
            (("--json-schema", "/nonexistent.json"), "--json-schema: /nonexistent.json: "),
        ]:
            self.refused(3, expected, *nowhere, *flags)

    def test_options_have_the_names_that_other_programs_use(self):
        for flags in (("-m", "/nonexistent"), ("--model=/nonexistent",), ("--", "/nonexistent")):
            self.refused(3, "/nonexistent", "run", "-p", "x", *flags)
            self.refused(3, "/nonexistent", "tokenize", *flags)
        self.refused(3, "/nonexistent", "run", "-p", "x", "/nonexistent", "-c", 64, "-n3", "--typical", 1, "--repeat-penalty", 1, "--chat", "-sys", "x")

    def test_values_out_of_range(self):
        self.refused(2, ["context is 4000", "2048", "(see tokamak run --help)"], "run", "-p", "x",
                     *CPU, "--context", "4000")
        self.refused(2, "add_rms_norm", "run", "-p", "x", "--disable-pass", "frob")
        self.refused(2, "linear.cpu", "run", "-p", "x", "--force", "linear=frob")

    def test_model_folders_that_are_none(self):
        self.refused(3, "/nonexistent", "run", "/nonexistent", "-p", "x")
        other = os.path.join(DATA, "gguf", "llama-q4_0.golden.json")
        self.refused(3, other, "run", other, "-p", "x")
        self.refused(3, "config.json", "run", os.path.join(DATA, "chat"), "-p", "x")
        self.refused(3, "tokenizer.json", "run", model("llama_untied"), "-p", "x", *CPU)


class Embed(Cli):
    """The storyteller, pooled, is an embedding model that has a tokenizer."""

    ENCODER = os.path.join(DATA, "embeddings", "embeddinggemma")
    STORYTELLER = os.path.join(program.SOURCE, "models", "storyteller")
    PROMPTS = {"query": "A question: ", "document": ""}
    POOLED = (STORYTELLER, "--pooling", "mean", *CPU)

    def vectors(self, *arguments, **options):
        out = self.ok("embed", *arguments, "--json", **options).out
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["index"] for line in lines], list(range(len(lines))))
        self.assertEqual({tuple(line) for line in lines} -
                         {("index", "tokens", "embedding"), ("index", "text", "tokens", "embedding")},
                         set())
        return [line["embedding"] for line in lines]

    def assert_close(self, one, other):
        self.assertEqual(len(one), len(other))
        for a, b in zip(one, other):
            self.assertAlmostEqual(a, b, delta=1e-6)

    def test_vectors_are_as_recorded(self):
        case = golden("embeddings", "embeddinggemma", "golden.json")["cases"][0]
        tokens = ("--tokens", ",".join(map(str, case["ids"])))
        (vector,) = self.vectors(self.ENCODER, *tokens, *REFERENCE)
        self.assert_close(vector, case["embedding"])
        (short,) = self.vectors(self.ENCODER, *tokens, "--dimensions", 16, *REFERENCE)
        length = sum(value**2 for value in case["embedding"][:16]) ** 0.5
        self.assert_close(short, [value / length for value in case["embedding"][:16]])
        (whole,) = self.vectors(self.ENCODER, *tokens, "--no-normalize", *REFERENCE)
        largest = max(map(abs, whole))
        self.assert_close([value / largest for value in whole],
                          [value / largest for value in case["before_normalize"]])

    def test_all_forms_hold_the_same_numbers(self):
        tokens = (self.ENCODER, "--tokens", "1,2,3", *CPU)
        (vector,) = self.vectors(*tokens)
        line = self.ok("embed", *tokens).out
        self.assertEqual(line.count("\n"), 1)
        self.assert_close([float(word) for word in line.split("\t")], vector)
        raw = subprocess.run([program.PROGRAM, "embed", *tokens, "--raw"], capture_output=True,
                             check=True, timeout=60).stdout
        self.assert_close(struct.unpack(f"<{len(vector)}f", raw), vector)

    def test_texts_come_from_flags_or_lines(self):
        texts = ["A fox.", "", "The old king"]
        lines = self.vectors(*self.POOLED, text="\n".join(texts) + "\n")
        flags = [flag for text in texts for flag in ("-p", text)]
        self.assertEqual(lines, self.vectors(*self.POOLED, *flags))
        self.assertEqual(len(lines), 3)
        self.assertNotEqual(lines[0], lines[2])

    def test_prompts_stand_before_the_text(self):
        with tempfile.TemporaryDirectory() as folder:
            encoder = os.path.join(folder, "encoder")
            shutil.copytree(self.STORYTELLER, encoder)
            os.mkdir(os.path.join(encoder, "1_Pooling"))
            kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
            for name, content in {
                "modules.json": [{"path": path, "type": f"sentence_transformers.models.{kind}"}
                                 for path, kind in kinds],
                "1_Pooling/config.json": {"pooling_mode_mean_tokens": True},
                "config_sentence_transformers.json": {"prompts": self.PROMPTS},
            }.items():
                with open(os.path.join(encoder, name), "w", encoding="utf-8") as file:
                    json.dump(content, file)
            def vector(text, *flags):
                return self.vectors(encoder, "-p", text, *flags, *CPU)[0]
            plain = vector("why?")
            self.assertEqual(vector("why?", "--prompt-name", "query"), vector("A question: why?"))
            self.assertNotEqual(vector("why?", "--prompt-name", "query"), plain)
            self.assertEqual(vector("why?", "--prompt-name", ""), plain)
            self.refused(2, "query, document", "embed", encoder, "-p", "x", "--prompt-name", "frob",
                         *CPU)
            self.refused(2, "modules.json", "embed", encoder, "-p", "x", "--pooling", "mean", *CPU)

    def test_what_does_not_fit_is_named(self):
        self.refused(3, "--truncate", "embed", *self.POOLED, "--context", 4, "-p",
                     "One two three four")
        self.refused(3, "line 2 of standard input", "embed", *self.POOLED, "--context", 4,
                     text="A\nOne two three four five\n")
        self.vectors(*self.POOLED, "--context", 4, "-p", "One two three four", "--truncate")
        self.refused(2, "dimensions", "embed", *self.POOLED, "-p", "x", "--dimensions", 9999)
        self.refused(3, "Standard input is empty", "embed", *self.POOLED)
        self.refused(3, "512", "embed", self.ENCODER, "--tokens", "512", *CPU)
        self.refused(2, "--raw", "embed", self.ENCODER, "--tokens", "1", "--raw", "--json")
        self.refused(2, "--tokens", "embed", self.ENCODER, "--tokens", "1", "-p", "x")
        self.refused(2, "--pooling", "embed", self.STORYTELLER, "--pooling", "max", "-p", "x", *CPU)
        self.refused(3, "tokenizer.json", "embed", self.ENCODER, "-p", "x", *CPU)

    def test_models_are_used_for_what_they_are(self):
        self.refused(4, "--pooling", "embed", self.STORYTELLER, "-p", "x", *CPU)
        for command in (("run", "-p", "x"), ("chat",), ("logits", "--tokens", "1")):
            with self.subTest(command):
                name, *flags = command
                self.refused(4, "tokamak embed", name, self.ENCODER, *flags, *CPU)
        self.ok("inspect", self.ENCODER, *CPU)


class Rerank(Cli):
    RANKER = os.path.join(DATA, "rerank", "cross_bert")
    QUERY = (RANKER, "-q", "When do foxes sleep?", *CPU)
    DOCUMENTS = ["Foxes rest by day.", "Owls hunt at night.", "The king had three sons."]

    def test_the_best_comes_first(self):
        flags = [flag for text in self.DOCUMENTS for flag in ("-d", text)]
        lines = [line.split("\t") for line in self.ok("rerank", *self.QUERY, *flags).out.splitlines()]
        scores = [float(line[0]) for line in lines]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertTrue(all(0 <= score <= 1 for score in scores), scores)
        self.assertEqual(sorted(line[1] for line in lines), ["0", "1", "2"])
        self.assertEqual([line[2] for line in lines], [self.DOCUMENTS[int(line[1])] for line in lines])
        out = self.ok("rerank", *self.QUERY, "--json", "--top", 2, text="\n".join(self.DOCUMENTS)).out
        best = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([str(one["index"]) for one in best], [line[1] for line in lines[:2]])
        for one, score in zip(best, scores):
            self.assertAlmostEqual(one["score"], score, delta=1e-6)

    def test_documents_are_cut_unless_asked_not_to_be(self):
        words = "the fox " * 100
        self.ok("rerank", *self.QUERY, "-d", words)
        self.refused(3, "truncate", "rerank", *self.QUERY, "-d", words, "--no-truncate")

    def test_models_that_do_not_rank_say_so(self):
        self.refused(4, "embedding model", "rerank", Embed.ENCODER, "-q", "a", "-d", "b", *CPU)
        self.refused(4, "cannot rank", "rerank", Embed.STORYTELLER, "-q", "a", "-d", "b", *CPU)
        self.refused(4, "tokamak rerank", "embed", self.RANKER, "-p", "a", *CPU)


class Logits(Cli):
    def test_json_is_as_documented(self):
        prompt = golden("models", "llama_untied", "golden.json")["prompts"][0]
        ids = ",".join(map(str, prompt["ids"]))
        answer = self.ok("logits", model("llama_untied"), "--tokens", ids, "--steps", 24, "--json",
                         *REFERENCE)
        self.assertEqual(answer.out.count("\n"), 1)
        out = json.loads(answer.out)
        self.assertEqual(list(out), ["model", "backend", "device", "architecture", "software",
                                     "load_seconds", "device_bytes", "tokens", "logits", "greedy"])
        self.assertEqual(out["architecture"], "LlamaForCausalLM")
        self.assertEqual(out["backend"], "cpu")
        self.assertEqual(out["tokens"], prompt["ids"])
        self.assertEqual(out["greedy"], prompt["greedy"]["ids"])
        self.assertEqual(len(out["logits"]), 512)
        for own, expected in zip(out["logits"], prompt["logits_last"]):
            self.assertAlmostEqual(own, expected, delta=1e-3)

    def test_all_rows_whatever_the_step_size(self):
        prompt = golden("models", "llama_untied", "golden.json")["prompts"][0]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(prompt["ids"], file)
            file.flush()
            for step in (0, 1, 3):
                answer = self.ok("logits", model("llama_untied"), "--tokens", "@" + file.name,
                                 "--all", "--step-size", step, "--json", *CPU)
                rows = json.loads(answer.out)["logits"]
                best = [row.index(max(row)) for row in rows]
                self.assertEqual(best, prompt["argmax_per_position"])

    def test_table(self):
        answer = self.ok("logits", model("llama_untied"), "--tokens", "1,2,3", "--steps", 2, *CPU)
        rows = r"(\d+ +-?\d+\.\d+ *\n){10}"
        self.assertRegex(answer.out, r"^token +logit\n" + rows + r"greedy: \[\d+, ?\d+\]\n$")

    def test_tokens_that_are_none(self):
        folder = model("llama_untied")
        self.refused(3, "512", "logits", folder, "--tokens", "1,512", *CPU)
        self.refused(3, "4294967295", "logits", folder, "--tokens", "4294967295", *CPU)
        self.refused(2, "1,x", "logits", folder, "--tokens", "1,x", *CPU)
        self.refused(2, "-1", "logits", folder, "--tokens", "1,-1", *CPU)
        self.refused(2, "1.5", "logits", folder, "--tokens", "1.5", *CPU)
        self.refused(2, "4294967296", "logits", folder, "--tokens", "4294967296", *CPU)
        self.refused(2, "--tokens", "logits", folder, "--tokens", "", *CPU)
        self.refused(3, "/nonexistent", "logits", folder, "--tokens", "@/nonexistent", *CPU)
        self.refused(3, "3 positions of 2", "logits", folder, "--tokens", "1,2,3", "--context", 2, *CPU)


class Tokenize(Cli):
    def test_a_folder_of_tokenizer_files_both_ways(self):
        for name in sorted(os.listdir(os.path.join(DATA, "tokenizers"))):
            cases = golden("tokenizers", name, "golden.json")["encode"][:40]
            folder = os.path.join(DATA, "tokenizers", name)
            texts = "".join(json.dumps(case["text"]) + "\n" for case in cases)
            lists = "".join(json.dumps(case["ids"]) + "\n" for case in cases)

            def lines(*flags, text=texts):
                out = self.ok("tokenize", folder, *flags, text=text).out
                return [json.loads(line) for line in out.splitlines()]

            with self.subTest(name):
                self.assertEqual(lines(), [case["ids"] for case in cases])
                plain = [case.get("ids_no_special", case["ids"]) for case in cases]
                self.assertEqual(lines("--no-special"), plain)
                self.assertEqual(lines("--decode", text=lists), [case["decoded"] for case in cases])
                skipped = [case["decoded_skip_special"] for case in cases]
                self.assertEqual(lines("--decode", "--skip-special", text=lists), skipped)

    def test_the_built_in_tokenizer(self):
        answer = self.ok("tokenize", text='"Once upon a time"\n')
        self.assertEqual(answer.out, "[2, 5845, 705, 377, 675]\n")

    def test_texts_are_options_plain_lines_or_json_strings(self):
        expected = "[2, 5845, 705, 377, 675]\n"
        self.assertEqual(self.ok("tokenize", "-p", "Once upon a time").out, expected)
        text = 'Once upon a time\n"Once upon a time"\r\n"Once"\nOnce\n"No", he said\n'
        lines = self.ok("tokenize", text=text).out.splitlines(keepends=True)
        self.assertEqual(lines[:2], [expected] * 2)
        self.assertEqual(lines[2], lines[3])
        self.assertEqual(len(lines), 5)
        self.refused(2, "--decode does not go with --prompt", "tokenize", "--decode", "-p", "x")

    def test_lines_that_are_no_json(self):
        self.refused(3, "line 2", "tokenize", "--decode", text='[1]\nnot json\n')
        self.refused(3, "array", "tokenize", "--decode", text='"x"\n')
        self.refused(3, "-1", "tokenize", "--decode", text="[-1]\n")
        self.refused(3, "tokenizer.json", "tokenize", model("llama_untied"), text='"x"\n')

    def test_bytes_that_are_no_utf8(self):
        answer = tokamak("tokenize", text=b'"\xff\xfe"\n')
        self.assertIn(answer.status, (0, 3), answer)

    def test_no_input_gives_no_output(self):
        self.assertEqual(self.ok("tokenize").out, "")


class Template(Cli):
    def test_all_recorded_conversations(self):
        data = golden("chat", "golden.json")
        for case in data["cases"]:
            variables = dict(data["conversations"][case["conversation"]])
            variables.update(data["templates"][case["template"]]["special_tokens"])
            variables.update(case["options"])
            path = os.path.join(DATA, "chat", case["template"] + ".jinja")
            text = json.dumps(variables)
            with self.subTest(case["template"], conversation=case["conversation"],
                              options=case["options"]):
                if "error" in case:
                    self.refused(3, path, "template", path, text=text)
                else:
                    answer = self.ok("template", path, text=text)
                    self.assertEqual(answer.out, case["rendered"])
        self.assertGreater(len(data["cases"]), 300)

    def test_the_model_folder(self):
        message = json.dumps({"messages": [{"role": "user", "content": "Hello!"}],
                              "add_generation_prompt": True})
        expected = "<bos><start_of_turn>user\nHello!<end_of_turn>\n<start_of_turn>model\n"
        folder = os.path.join(program.SOURCE, "models", "storyteller")
        self.assertEqual(self.ok("template", folder, text=message).out, expected)
        self.assertEqual(self.ok("template", text=message).out, expected)

    def test_mistakes(self):
        self.refused(3, "standard input", "template", text="{")
        self.refused(3, "object", "template", text="[]")
        self.refused(3, "/nonexistent.jinja", "template", "/nonexistent.jinja", text="{}")
        self.refused(3, "chat template", "template", model("llama_untied"), text='{"messages": []}')


class Gguf(Cli):
    """One file instead of a folder."""

    PATH = os.path.join(DATA, "gguf", "llama-q4_0.gguf")

    def test_logits(self):
        prompt = golden("gguf", "llama-q4_0.golden.json")["prompts"][0]
        ids = ",".join(map(str, prompt["ids"]))
        out = json.loads(self.ok("logits", self.PATH, "--tokens", ids, "--steps", 24, "--json",
                                 *CPU).out)
        self.assertEqual(out["greedy"], prompt["greedy"]["ids"])

    def test_run(self):
        answer = self.ok("run", self.PATH, "-p", "Hello, world!", "-n", 4, *CPU)
        self.assertNotEqual(answer.out, "")

    def test_tokenize(self):
        cases = golden("gguf", "llama-q4_0.golden.json")["tokenizer"][:40]
        texts = "".join(json.dumps(case["text"]) + "\n" for case in cases)
        out = self.ok("tokenize", self.PATH, "--no-special", text=texts).out
        self.assertEqual([json.loads(line) for line in out.splitlines()],
                         [case["ids_no_special"] for case in cases])

    def test_inspect_counts_the_weights_of_all_ranks(self):
        model = os.path.join(program.DATA, "models", "llama_mlx4_g64")
        one, two = (json.loads(self.ok("inspect", model, "--json", "--backend", "cpu-reference", *more).out)
                    for more in ((), ("--gpus", "0,1")))
        self.assertEqual(one["parameters"], two["parameters"])
        self.assertNotIn("ranks", one)
        cut = two["ranks"]
        self.assertEqual((cut["ranks"], cut["attentions"], cut["whole"], cut["logits"]), (2, 2, 0, True))
        self.assertLess(cut["weight_share"], 0.85)

    def test_inspect_counts_the_memory_of_each_rank(self):
        model = os.path.join(program.DATA, "models", "llama_mlx4_g64")
        cpu = ("inspect", model, "--memory", "--backend", "cpu-reference")
        two = (*cpu, "--gpus", "0,1")
        self.assertTrue(self.ok(*two).out.startswith("Of each of the 2 devices:\n"))
        self.assertNotIn("Of each", self.ok(*cpu).out)
        self.assertNotIn("ranks", json.loads(self.ok(*cpu, "--json").out))
        self.assertEqual(json.loads(self.ok(*two, "--json").out)["ranks"], 2)

    def test_gpus_auto_is_what_no_option_is(self):
        model = os.path.join(program.DATA, "models", "llama_mlx4_g64")
        cpu = ("inspect", model, "--memory", "--backend", "cpu-reference")
        self.assertEqual(self.ok(*cpu, "--gpus", "auto", "--split", "layers").out, self.ok(*cpu).out)
        self.refused(2, '--gpus is "auto,1", expected numbers of devices or auto alone', *cpu, "--gpus", "auto,1")
        self.refused(2, "expected a whole number from 0 to 65535 or auto", *cpu, "--gpus", "all")
        self.refused(2, "--device chooses one GPU and --gpus auto as many as the model needs",
                     "inspect", model, "--gpus", "auto", "--device", "0")

    def test_inspect_lists_the_layers_of_each_device(self):
        model = os.path.join(program.DATA, "models", "gemma3_hub")
        two = ("--backend", "cpu-reference", "--gpus", "0,1", "--split", "layers")
        devices = json.loads(self.ok("inspect", model, "--json", *two).out)["devices"]
        self.assertEqual(sum(one["count"] for one in devices), 7)
        self.assertEqual([one["first"] for one in devices], [1, 1 + devices[0]["count"]])
        memory = json.loads(self.ok("inspect", model, "--memory", "--json", *two).out)
        self.assertEqual(len(memory["devices"]), 2)
        self.assertRegex(self.ok("inspect", model, "--memory", *two).out, r"Of layers 1 to \d:\n(.|\n)*\nOf layer")
        self.refused(2, "--split does nothing without --gpus", "inspect", model, "--split", "layers")

    def test_inspect(self):
        out = json.loads(self.ok("inspect", self.PATH, "--json", *CPU).out)
        self.assertEqual(out["name"], "golden llama q4_0")
        self.assertEqual(out["quantization"], "Q4_0")
        self.assertEqual(out["tokenizer"], {"kind": "gpt2, llama-bpe", "vocabulary": 320})
        self.assertIn("q4_0", out["element_types"])

    def test_metadata(self):
        out = self.ok("inspect", self.PATH, "--metadata").out
        self.assertRegex(out, r'\nllama\.block_count +2\n')
        self.assertLessEqual(max(map(len, out.splitlines())), 100)
        out = json.loads(self.ok("inspect", self.PATH, "--metadata", "--json").out)
        self.assertEqual(len(out["metadata"]["tokenizer.ggml.tokens"]), 320)
        self.assertNotIn("config", out)
        out = self.ok("inspect", "--metadata").out
        self.assertRegex(out, r'\nformat +"pt"\n(.|\n)*\nconfig\.json head_dim +64\n')
        self.refused(2, "--dot does nothing without --graph or --fused or --plan", "inspect",
                     "--metadata", "--dot")

    def test_no_chat_template(self):
        self.refused(3, "chat template", "template", self.PATH, text='{"messages": []}')

    def test_a_file_is_known_by_its_first_bytes(self):
        """Caches name files after their hashes."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sha256-0123")
            shutil.copy(self.PATH, path)
            self.assertEqual(self.ok("tokenize", path, "-p", "Hello").out,
                             self.ok("tokenize", self.PATH, "-p", "Hello").out)

    def test_a_file_of_another_kind(self):
        self.refused(3, "not a GGUF file", "run", os.path.join(DATA, "gguf", "llama-q4_0.golden.json"),
                     "-p", "x")


class Sampler(Cli):
    def test_all_recorded_cases(self):
        data = golden("samplers", "golden.json")
        lines = ""
        for case in data["cases"]:
            vector = data["vectors"][case["vector"]]
            lines += json.dumps({"logits": vector["logits"], "previous_ids": vector["previous_ids"],
                                 "params": case["params"]}) + "\n"
        answers = [json.loads(line) for line in self.ok("sampler", text=lines).out.splitlines()]
        self.assertEqual(len(answers), len(data["cases"]))
        for number, (case, own) in enumerate(zip(data["cases"], answers)):
            vector = data["vectors"][case["vector"]]
            expected = case["survivors"]
            if expected == "all":
                expected = list(range(len(vector["logits"])))
            probs = case.get("probs_all") or case["probs"]
            with self.subTest(number, params=case["params"]):
                if vector["kind"] != "ties":
                    self.assertEqual(sorted(own["survivors"]), sorted(expected))
                self.assertEqual(len(own["probs"]), len(own["survivors"]))
                self.assertEqual(len(own["probs"]), len(probs))
                for one, other in zip(sorted(own["probs"]), sorted(probs)):
                    self.assertAlmostEqual(one, other, delta=2e-5)

    def test_mistakes(self):
        self.refused(3, "line 1", "sampler", text="nonsense\n")
        self.refused(3, "logits", "sampler", text="{}\n")
        unknown = '{"logits": [1], "params": {"frobnicate": 1}}\n'
        self.refused(3, "frobnicate", "sampler", text=unknown)


class Run(Cli):
    def test_the_built_in_model_tells_the_recorded_story(self):
        case = story_case("Once upon a time")
        answer = self.ok(*STORY, "--greedy", "-n", 64)
        self.assertEqual(answer.out, case["prompt"] + case["greedy_text"] + "\n")
        self.assertEqual(answer.other, [], "no progress and no statistics into a pipe")

    def test_the_same_seed_gives_the_same_text(self):
        flags = (*STORY, "--temp", "1", "-n", 12)
        first = self.ok(*flags, "--seed", 7).out
        self.assertEqual(self.ok(*flags, "--seed", 7).out, first)
        others = {self.ok(*flags, "--seed", seed).out for seed in (8, 9, 10)}
        self.assertNotEqual(others, {first})
        spelt_out = (*STORY, "--temperature", "1", "-n", 12, "--seed", 7)
        self.assertEqual(self.ok(*spelt_out).out, first)

    def test_a_draft_model_changes_no_token(self):
        flags = (*STORY, "--temp", 1, "--seed", 7, "-n", 12)
        plain = self.ok(*flags).out
        answer = self.ok(*flags, "--draft", STORYTELLER, "--speculate", "draft:3", "--stats")
        self.assertEqual(answer.out, plain)
        self.assertRegex(answer.other[-1], r"; [1-9][0-9]* of [0-9]+ guesses came true")
        memory = [line for line in answer.notes if "for the draft model" in line]
        self.assertEqual(len(memory), 1, "what it takes is said")
        self.refused(2, "there is no draft model; name one (--draft)", *STORY, "--speculate", "draft")
        self.refused(2, "which asks no draft model", *STORY, "--speculate", "lookup", "--draft", STORYTELLER)
        self.refused(2, "expected off, auto, lookup[:1 to 63] or draft[:1 to 63]", *STORY, "--speculate", "draft:64")

    def test_it_stops_at_a_text_and_does_not_show_it(self):
        answer = self.ok(*STORY, "--greedy", "-n", 64, "--stop", " king", "--json")
        out = json.loads(answer.out)
        self.assertEqual(out["text"], ", there lived a")
        self.assertEqual(out["finish"], "stop")

    def test_a_grammar_says_what_may_follow(self):
        grammar = 'root ::= " there was a " ("king" | "queen") " named " [A-Z] [a-z]{2,6} "."'
        out = json.loads(self.ok(*STORY, "--greedy", "--grammar", grammar, "--json").out)
        self.assertRegex(out["text"], r"^ there was a (king|queen) named [A-Z][a-z]{2,6}\.$")
        self.assertEqual(out["finish"], "grammar")
        flags = ("--temp", 1, "--top-k", 40, "--seed", 5, "--json")
        out = json.loads(self.ok(*STORY, *flags, "--grammar", grammar).out)
        self.assertRegex(out["text"], r"^ there was a (king|queen) named [A-Z][a-z]{2,6}\.$")
        json_file = os.path.join(program.SOURCE, "examples", "grammars", "json.gbnf")
        out = json.loads(self.ok(*STORY, *flags, "-n", 4, "--grammar", "@" + json_file).out)
        self.assertRegex(out["text"], r'^[\[{"0-9tfn-]')

    def test_a_json_schema_is_held(self):
        schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9},
                                                   "who": {"enum": ["king", "queen"]}},
                  "required": ["n", "who"], "additionalProperties": False}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "schema.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(schema, file)
            flags = ("--temp", 1, "--seed", 5, "-n", 200, "--json", "--json-schema", path)
            out = json.loads(self.ok(*STORY, *flags).out)
            made = json.loads(out["text"])
            self.assertEqual(list(made), ["n", "who"])
            self.assertLessEqual(made["n"], 9)
            self.assertEqual(out["finish"], "grammar")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"uniqueItems": True}, file)
            self.refused(4, "#: uniqueItems for items of more than 10", *STORY, "--json-schema", path)

    def test_a_regular_expression_describes_the_answer(self):
        out = json.loads(self.ok(*STORY, "--greedy", "--json", "--regex", " (a|the) [a-z]{3,5}!").out)
        self.assertRegex(out["text"], r"^ (a|the) [a-z]{3,5}!$")

    def test_a_grammar_that_is_none(self):
        self.refused(2, "a grammar, or @file", *STORY, "--grammar", "")
        self.refused(3, "No token of the vocabulary goes on", *STORY, "--grammar",
                     'root ::= "" [^\\x00-\\U0010FFFF]')

    def test_json_with_logprobs(self):
        flags = ("--greedy", "-n", 5, "--json", "--logprobs", 3, "--seed", 1)
        out = json.loads(self.ok(*STORY, *flags).out)
        self.assertEqual(list(out), ["prompt", "text", "tokens", "finish", "seed", "prompt_tokens",
                                     "model", "backend", "device", "timings", "logprobs"])
        self.assertEqual((out["prompt_tokens"], out["model"], out["backend"]),
                         (5, "storyteller", "cpu"))
        self.assertEqual(list(out["timings"]), [
            "load_seconds", "prompt_seconds", "generate_seconds", "prompt_tokens_per_second",
            "generated_tokens_per_second"])
        # The shortest text that gives the float.
        self.assertLess(len(repr(out["logprobs"][0]["logprob"])), 14)
        self.assertEqual(out["finish"], "length")
        self.assertEqual(len(out["tokens"]), 5)
        self.assertEqual([entry["id"] for entry in out["logprobs"]], out["tokens"])
        for entry in out["logprobs"]:
            top = [one["logprob"] for one in entry["top"]]
            self.assertEqual(len(top), 3)
            self.assertEqual(top, sorted(top, reverse=True))
            self.assertEqual(entry["top"][0]["id"], entry["id"])  # greedy
            self.assertLess(top[0], 0)

    def test_number_of_tokens(self):
        for count in (0, 1, 3):
            out = json.loads(self.ok(*STORY, "--greedy", "-n", count, "--json").out)
            self.assertEqual(len(out["tokens"]), count)

    def test_prompt_from_standard_input(self):
        expected = self.ok(*STORY, "--greedy", "-n", 4).out
        rest = ("--greedy", "-n", 4, *CPU)
        self.assertEqual(self.ok("run", *rest, text="Once upon a time\n").out, expected)
        self.assertEqual(self.ok("run", "-p", "-", *rest, text="Once upon a time").out, expected)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("Once upon a time\n")
            file.flush()
            self.assertEqual(self.ok("run", "-f", file.name, *rest, text="not this").out, expected)
        self.refused(3, "/nonexistent", "run", "-f", "/nonexistent")

    def test_a_prompt_that_is_not_there(self):
        self.refused(2, ["A prompt is missing", "standard input is empty"], "run")
        answer, _ = on_terminal("run")
        self.assertIn("A prompt is missing: -p TEXT, -f FILE, or standard input", answer)
        self.refused(2, ['no model "Once upon a time"', 'tokamak run -p "Once upon a time"'], "run",
                     "Once upon a time", text="x")

    def test_chat_prompt(self):
        case = story_case("Hello!")
        answer = self.ok("run", "--chat", "-p", "Hello!", "--greedy", "-n", 64, *CPU)
        self.assertEqual(answer.out, case["greedy_text"] + "\n")
        told = self.ok("run", "--chat", "-sys", "Be sad.", "-p", "Hello!", "--greedy", "-n", 1,
                       "--json", *CPU)
        asked = self.ok("run", "--chat", "-p", "Hello!", "--greedy", "-n", 1, "--json", *CPU)
        self.assertGreater(json.loads(told.out)["prompt_tokens"],
                           json.loads(asked.out)["prompt_tokens"])

    def test_a_prompt_that_does_not_fit(self):
        self.refused(3, "The prompt has 203 tokens, but the context has 64 positions", "run", "-p", "word " * 200, "--context", 64, *CPU)

    def test_the_context_ends_a_text(self):
        out = json.loads(self.ok(*STORY, "--greedy", "--context", 8, "-n", 64, "--json").out)
        self.assertEqual(out["finish"], "context")

    def test_statistics_only_when_asked(self):
        answer = self.ok(*STORY, "-n", 3, "--stats")
        self.assertEqual(len(answer.other), 1)
        self.assertIn("tok/s", answer.other[0])

    def test_interrupt_prints_what_there_is(self):
        process = subprocess.Popen([program.PROGRAM, *STORY, "--greedy", "-n", "1500"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        start = b""
        while b"lived" not in start:
            piece = os.read(process.stdout.fileno(), 1024)
            self.assertNotEqual(piece, b"", "the program ended early")
            start += piece
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=20)
        text = (start + rest).decode()
        self.assertEqual(process.returncode, 130, err)
        self.assertTrue(text.startswith("Once upon a time, there lived"), text)
        self.assertTrue(text.endswith("\n"), text)
        self.assertEqual((err.count(b"Interrupted."), err.count(b"error")), (1, 0), err)

    def test_interrupt_keeps_json_whole(self):
        for seconds in (0.7, 2, 6):  # while it loads there is nothing to keep
            process = subprocess.Popen([program.PROGRAM, *STORY, "--greedy", "-n", "1500", "--json"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
            self.assertEqual((process.returncode, err.count(b"Interrupted.")), (130, 1), err)
            if out:
                break
        self.assertEqual(json.loads(out)["finish"], "cancelled")

    def interrupt(self, *command, after, env=None):
        """Ctrl-C ends the command within a moment and with nothing but a word."""
        with self.subTest(command):
            process = subprocess.Popen([program.PROGRAM, *command], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            start = time.monotonic()
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out, err), (130, b"", b"\nInterrupted.\n"))
            self.assertLess(time.monotonic() - start, 3)  # a step of the device has two seconds to end

    def test_interrupt_ends_loading_and_the_first_step(self):
        commands = [("run", "-p", "x"), ("bench",), ("tune",), ("profile",), ("logits", "--tokens", "5"),
                    ("embed", STORYTELLER, "-p", "x", "--pooling", "mean")]
        for command in commands:
            with tempfile.TemporaryDirectory() as folder:
                # Without caches a software driver compiles for many seconds.
                self.interrupt(*command, "--backend", "webgpu", after=1.5,
                               env=environment(TOKAMAK_CACHE_DIR=folder,
                                               MESA_SHADER_CACHE_DISABLE="true"))

    def test_interrupt_ends_what_waits_for_input(self):
        for command in (("run",), ("embed", STORYTELLER), ("tokenize",), ("template",), ("sampler",)):
            self.interrupt(*command, after=0.3)

    def test_what_runs_in_the_background_of_a_script_hears_no_interrupt(self):
        process = subprocess.Popen([program.PROGRAM, "tokenize"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(b'"a"\n', timeout=20)
        self.assertEqual((process.returncode, err), (0, b""))

    def test_interrupt_stops_logits(self):
        ids = ",".join(["5"] * 2000)
        process = subprocess.Popen(
            [program.PROGRAM, "logits", os.path.join(program.SOURCE, "models", "storyteller"),
             "--tokens", ids, "--chunk", "16", "--backend", "cpu-reference"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, out), (130, b""), err)
        self.assertEqual(err.count(b"Interrupted."), 1)

    def test_a_reader_that_goes_away(self):
        process = subprocess.Popen([program.PROGRAM, *STORY, "--greedy", "-n", "1500"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.read(process.stdout.fileno(), 8)
        process.stdout.close()
        _, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, err), (-signal.SIGPIPE, b""))

    def test_output_that_cannot_be_written(self):
        for arguments in ((*STORY, "-n", "3"), ("--help",), ("version",), ("tokenize", "-p", "x")):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                process = subprocess.run([program.PROGRAM, *arguments], stdout=full,
                                         stderr=subprocess.PIPE, timeout=60)
                self.assertEqual(process.returncode, 6)
                self.assertIn(b"No space left on device", process.stderr)


class Chat(Cli):
    def test_answers_lines_of_standard_input(self):
        answer = self.ok("chat", "--greedy", *CPU, text="Hello!\n")
        case = story_case("Hello!")
        self.assertEqual(answer.out, case["greedy_text"] + "\n")

    def test_reset_and_retry(self):
        typed = "Hello!\n/retry\n/reset\nHello!\n/quit\nnever read\n"
        answer = self.ok("chat", "--greedy", *CPU, text=typed)
        lines = answer.out.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertEqual(len(set(lines)), 1)

    def test_an_interrupt_ends_a_chat_in_a_pipe(self):
        process = subprocess.Popen([program.PROGRAM, "chat", *CPU, "--greedy", "-n", "1500"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdin.write(b"Hello!\n")
        process.stdin.flush()
        self.assertNotEqual(os.read(process.stdout.fileno(), 1024), b"")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, err), (130, b"Interrupted.\n"))

    def test_a_model_without_a_template(self):
        self.refused(3, "tokenizer.json", "chat", model("llama_untied"), *CPU, text="Hello!\n")


class Devices(Cli):
    def test_webgpu_without_a_device_says_what_to_do(self):
        answer = self.refused(5, ["WebGPU", "driver"], "run", "-p", "x", "--backend", "webgpu",
                              env=NO_GPU)
        self.assertEqual(answer.out, "")

    def test_auto_falls_back_to_the_cpu_and_says_so(self):
        answer = self.ok("run", "-p", "Once upon a time", "--greedy", "-n", 3, env=NO_GPU)
        self.assertEqual(answer.out, "Once upon a time, there lived\n")
        seen, status = on_terminal("run", "-p", "x", "-n", "1", env=NO_GPU)
        self.assertEqual(status, 0, seen)
        self.assertIn("note: No GPU found: running on the processor", seen)
        self.assertEqual(answer.notes, [])
        self.assertEqual(answer.other, [], "Dawn's own remarks are kept from the user")

    def test_doctor_without_a_device(self):
        answer = tokamak("doctor", env=NO_GPU)
        self.assertIn(answer.status, (0, 5), answer)
        self.assertIn("driver", answer.out + "".join(answer.errors))

    def test_a_lesser_instruction_set_of_the_processor(self):
        answer = self.refused(2, 'TOKAMAK_CPU is "none", expected an instruction set', *STORY, "-n", 1, env=dict(NO_GPU, TOKAMAK_CPU="none"))
        sets = re.search(r"this processor: ([a-z0-9]+(?:, [a-z0-9]+)*)", answer.errors[0])[1].split(", ")
        self.assertEqual(self.refused(2, "TOKAMAK_CPU", "doctor", env=dict(NO_GPU, TOKAMAK_CPU="none")).out, "")
        for name in sets:
            env = dict(NO_GPU, TOKAMAK_CPU=name)
            self.assertEqual(self.ok(*STORY, "-n", 8, "--greedy", env=env).out, self.ok(*STORY, "-n", 8, "--greedy").out)
            self.assertEqual("as TOKAMAK_CPU says" in tokamak("doctor", env=env).out, name != sets[0])

    def test_doctor_writes_a_report_without_a_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "doctor.json")
            env = dict(NO_GPU, HOME=program.SOURCE)  # the model's folder is in it
            answer = tokamak("doctor", "--report", path, env=env)
            self.assertEqual((answer.status, answer.errors), (0, []), answer)
            self.assertIn(path, answer.out)
            with open(path, encoding="utf-8") as file:
                text = file.read()
        report = json.loads(text)
        self.assertNotIn(program.SOURCE + "/", text)
        self.assertTrue(report["doctor"]["healthy"])
        self.assertEqual([one["on"] for one in report["benchmarks"]], ["the processor"])
        self.assertTrue(report["benchmarks"][0]["check"]["correct"], report["benchmarks"][0])
        self.assertTrue(report["system"]["name"] and report["system"]["kernel"], report["system"])

    def test_doctor_says_how_far_it_is_on_a_terminal(self):
        self.has_webgpu()
        with tempfile.TemporaryDirectory() as folder:  # without caches it takes longer than a second
            env = environment(TOKAMAK_CACHE_DIR=folder, MESA_SHADER_CACHE_DISABLE="true")
            main, terminal = pty.openpty()
            process = subprocess.Popen([program.PROGRAM, "doctor", "--device", "0"], stdin=terminal,
                                       stdout=terminal, stderr=terminal, env=env)
            os.close(terminal)
            seen = ""
            while not re.search(r"device 0: kernel \d+ of \d+ \.\.\. \d+ s", seen):
                seen += os.read(main, 4096).decode()
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=20), 130)
            while "Interrupted." not in seen:
                seen += os.read(main, 4096).decode()
            os.close(main)

    def test_a_device_number_that_is_none(self):
        self.has_webgpu()
        for command in (("run", "-p", "x"), ("doctor",)):
            self.refused(2, "There is no WebGPU device 99; the last", *command, "--device", 99)

    def test_a_number_of_multiprocessors_that_is_none(self):
        self.has_webgpu()
        for value in ("0", "many", "132x", "5000"):
            for command in (("run", "-p", "x", "-n", 1, "--backend", "webgpu"), ("doctor",)):
                answer = tokamak(*command, env=environment(TOKAMAK_MULTIPROCESSORS=value))
                self.assertEqual(answer.status, 2, answer)
                self.assertIn(f'TOKAMAK_MULTIPROCESSORS is "{value}", expected a number from 1',
                              "".join(answer.errors))
        answer = tokamak("run", "-p", "x", "--backend", "webgpu",
                         env=environment(TOKAMAK_SUBMIT_DISPATCHES="some"))
        self.assertIn('TOKAMAK_SUBMIT_DISPATCHES is "some", expected a number from 1 to 1000000: '
                      "most dispatches of a submission", "".join(answer.errors))

    def test_a_cache_folder_that_cannot_be_written(self):
        self.has_webgpu()
        for folder in ("/proc/nothing", "/dev/full"):
            answer = self.ok("run", "-p", "Once upon a time", "--greedy", "-n", 3,
                             "--backend", "webgpu", "--no-self-test",
                             env=environment(TOKAMAK_CACHE_DIR=folder))
            self.assertEqual(answer.out, "Once upon a time, there lived\n")

    def test_a_slow_device_is_told_to_people_only(self):
        self.has_webgpu()
        flags = ("run", "-p", "x", "-n", "1", "--backend", "webgpu")
        software = json.loads(self.ok("logits", "--tokens", "1", "--json", *flags[5:]).out)["software"]
        self.assertEqual(self.ok(*flags).notes, [])
        self.assertEqual("note: No GPU found" in on_terminal(*flags)[0], software)
        self.assertNotIn("note: ", on_terminal(*flags, "--json")[0])

    def test_a_damaged_cache_is_no_harm(self):
        with tempfile.TemporaryDirectory() as folder:
            env = environment(TOKAMAK_CACHE_DIR=folder)
            flags = ("run", "-p", "Once upon a time", "--greedy", "-n", 3, "--backend", "webgpu")
            first = self.ok(*flags, env=env).out
            files = [os.path.join(place, name)
                     for place, _, names in os.walk(folder) for name in names]
            self.assertNotEqual(files, [], "pipelines are kept")
            for number, path in enumerate(files):
                size = os.path.getsize(path)
                with open(path, "r+b") as file:
                    if number % 2:
                        file.truncate(size // 2)
                    else:
                        file.write(os.urandom(min(size, 64)))
            self.assertEqual(self.ok(*flags, env=env).out, first)


if __name__ == "__main__":
    program.main(unittest)
