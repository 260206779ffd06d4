#!/usr/bin/env python3
"""What people meet in their first hour: closed streams, endless input, words of other programs.

Run by CTest; by hand as cli_test.py.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

import program
from cli_test import COMMANDS, CPU, Cli
from program import DATA, on_terminal, tokamak

STORYTELLER = os.path.join(program.SOURCE, "models", "storyteller")
RANKER = os.path.join(DATA, "rerank", "cross_bert")
POOLED = (STORYTELLER, "--pooling", "mean", *CPU)
THINKING = """{% for message in messages %}{{ message.role }}: {{ message.content }}
{% if message.reasoning_content %}[{{ message.reasoning_content }}]{% endif %}{% endfor %}{#
</think> #}assistant: <think>
"""


def shell(command, **options):
    """-> the exit status, standard output and standard error of a line of the shell."""
    line = command.replace("tokamak ", program.PROGRAM + " ")
    done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=120, text=True, **options)
    return done.returncode, done.stdout, done.stderr


class Streams(Cli):
    def test_standard_input_that_is_closed_is_an_error(self):
        for command in ("run --backend cpu", "chat --backend cpu", "tokenize", "template", "sampler",
                        f"embed {STORYTELLER} --pooling mean --backend cpu",
                        f"rerank {RANKER} -q x --backend cpu"):
            with self.subTest(command):
                status, _, errors = shell(f"tokamak {command} <&-")
                self.assertEqual(status, 3, errors)
                self.assertIn("Reading standard input failed: Bad file descriptor.", errors)

    def test_a_folder_as_standard_input_is_an_error(self):
        for command in ("chat --backend cpu", "tokenize"):
            status, _, errors = shell(f"tokamak {command} < /")
            self.assertEqual((status, "Is a directory" in errors), (3, True), errors)

    def test_output_that_is_closed_or_full_ends_with_6(self):
        for command in ("--help", "tokenize -p x", "run --backend cpu -p x -n 1"):
            for output in (">&-", ">/dev/full"):
                with self.subTest((command, output)):
                    status, _, errors = shell(f"tokamak {command} {output}")
                    self.assertEqual(status, 6, errors)
                    self.assertIn("Writing the output failed", errors)

    def test_no_file_takes_the_number_of_a_closed_stream(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            status, _, _ = shell(f"tokamak profile --backend cpu -r 1 --trace {path} 2>&- <&-")
            self.assertEqual(status, 0)
            with open(path, encoding="utf-8") as file:
                self.assertIn("traceEvents", json.load(file))

    def test_endless_input_is_read_to_a_limit(self):
        for command, limit in (("run --backend cpu", "64 MiB"), ("template", "64 MiB"),
                               (f"rerank {RANKER} -q x --backend cpu", "64 MiB"),
                               ("run --backend cpu -p x --json-schema -", "1 MiB"),
                               (f"run --backend cpu -f <(yes)", "64 MiB")):
            with self.subTest(command):
                status, _, errors = shell(f"ulimit -v 4000000; yes | tokamak {command}")
                self.assertEqual(status, 3, errors)
                self.assertIn(f"has more than {limit}", errors)

    def test_lines_are_answered_while_they_come(self):
        for command in ("tokenize", f"embed {STORYTELLER} --pooling mean --backend cpu"):
            with self.subTest(command):
                status, out, errors = shell(f"ulimit -v 4000000; yes | tokamak {command} | head -3")
                self.assertEqual((status, out.count("\n")), (0, 3), errors)

    def test_a_line_without_an_end_is_read_to_a_limit(self):
        for command in ("tokenize", "sampler", "chat --backend cpu"):
            with self.subTest(command):
                status, _, errors = shell(
                    f"ulimit -v 4000000; tr '\\0' x < /dev/zero | tokamak {command}")
                self.assertEqual(status, 3, errors)
                self.assertIn("64 MiB", errors)

    def test_memory_that_runs_out_is_one_sentence(self):
        least = next(size for size in range(100_000, 4_000_000, 10_000)
                     if shell(f"ulimit -v {size}; tokamak --version")[0] == 0)
        status, _, errors = shell(
            f"ulimit -v {least + 10_000}; head -c 67000000 /dev/zero | tokamak template")
        self.assertEqual((status, errors), (5, "error: The program needs more memory than there is.\n"))


class Files(Cli):
    def test_pipes_are_read_wherever_a_file_may_stand(self):
        story = "Once upon a time"
        own = self.ok("run", *CPU, "--greedy", "-n", 4, "-p", story).out
        for given in ("-f -", "-f /dev/stdin", "-p -", "-f <(cat)"):
            with self.subTest(given):
                status, out, errors = shell(
                    f"echo '{story}' | tokamak run --backend cpu --greedy -n 4 {given}")
                self.assertEqual((status, out), (0, own), errors)
        ids = self.ok("tokenize", "-p", story).out
        status, out, errors = shell(f"tokamak tokenize -f <(echo '{story}')")
        self.assertEqual((status, out), (0, ids), errors)
        status, out, errors = shell(
            "tokamak run --backend cpu -n 4 -p x --grammar @<(echo 'root ::= \"yes\"')")
        self.assertEqual((status, out), (0, "xyes\n"), errors)

    def test_texts_that_are_no_utf8_are_named_with_their_line(self):
        data = b"One.\nTw\xf6.\n"
        for command in (("run", *CPU), ("embed", *POOLED), ("rerank", RANKER, "-q", "x", *CPU),
                        ("speak", STORYTELLER, "-o", "/nonexistent/a.wav")):
            with self.subTest(command):
                answer = tokamak(*command, text=data)
                self.assertEqual(answer.status, 3, answer)
                self.assertIn("Line 2 of standard input is not UTF-8.", answer.errors[0])

    def test_a_missing_file_is_bad_input_whatever_names_it(self):
        for flags in (("-f", "/nope"), ("--grammar", "@/nope"), ("--json-schema", "/nope"),
                      ("--lora", "/nope"), ("-m", "/nope")):
            with self.subTest(flags):
                prompt = () if flags[0] == "-f" else ("-p", "x")
                answer = self.refused(3, "/nope", "run", *CPU, *prompt, *flags)
                self.assertNotIn("--help", answer.errors[0])
        self.refused(3, "/nope", "logits", "--tokens", "@/nope", *CPU)
        self.refused(3, "/nope", "describe", STORYTELLER, "/nope", *CPU)
        self.refused(2, "download the image", "describe", STORYTELLER, "https://a.org/b.png", *CPU)

    def test_an_output_that_cannot_be_written_ends_with_6(self):
        for flag in ("--html", "--trace"):
            for path in ("/nonexistent/x", "/"):
                with self.subTest((flag, path)):
                    self.refused(6, path, "profile", "-r", 1, *CPU, flag, path)
        self.refused(6, "/nonexistent/a.wav", "speak", STORYTELLER, "x", "-o", "/nonexistent/a.wav")
        self.refused(6, "/nonexistent/x.srt", "transcribe", STORYTELLER, "a.wav", "-o", "/nonexistent/x.srt", *CPU)

    def test_standard_input_is_one_thing(self):
        schema = '{"type": "integer"}'
        for given in ((), ("-p", "-"), ("-f", "-")):
            with self.subTest(given):
                self.refused(2, ["Standard input is the schema", "-p TEXT"], "run", *CPU,
                             "--json-schema", "-", *given, text=schema)


class Flags(Cli):
    def test_sizes_are_checked_first_and_by_name(self):
        nowhere = ("run", "/nonexistent", "-p", "x", "--max-memory")
        for size, expected in (("lots", "a size as 6GiB or a share as 70%"), ("0", "a size as 6GiB"),
                               ("10", "a unit after it, as in 10GiB or 10MiB"),
                               ("101%", "a share from 1% to 100%"), ("1.5", "a size as 6GiB")):
            self.refused(2, f'--max-memory is "{size}", expected {expected}', *nowhere, size)
        for size in ("1.7GiB", "500M", "70%", "2000000000"):
            self.refused(3, "/nonexistent", *nowhere, size)

    def test_times_have_units(self):
        for time in ("30", "30d", "12h", "1h30m"):
            self.ok("cache", "prune", "--unused-for", time, env=program.environment(
                TOKAMAK_CACHE_DIR="/nonexistent/cache"))
        self.refused(2, '--unused-for is "soon", expected a time as', "cache", "prune",
                     "--unused-for", "soon")

    def test_a_context_of_one_has_no_room(self):
        self.refused(2, "context is 1, but a prompt and a token need 2", "run", *CPU, "-p", "x",
                     "-c", 1)

    def test_no_limit_is_a_limit(self):
        answer = self.ok("run", *CPU, "--greedy", "-p", "x", "-c", 32, "-n", -1, "--json")
        out = json.loads(answer.out)
        self.assertIn(out["finish"], ("context", "end"))
        out = json.loads(self.ok("run", *CPU, "--greedy", "-p", "x", "-c", 48, "-n", -1, "--json",
                                 "--ignore-eos").out)
        self.assertEqual(out["finish"], "context")
        self.refused(2, '--max-tokens is "-2", expected a whole number from -1', "run", "-p", "x",
                     "-n", -2)

    def test_penalties_and_biases_change_what_is_chosen(self):
        run = ("run", *CPU, "--greedy", "-n", 8, "-p", "Once upon a time", "--json")
        plain = json.loads(self.ok(*run).out)["tokens"]
        biased = json.loads(self.ok(*run, "--logit-bias", f"{plain[0]}=-100").out)["tokens"]
        self.assertNotIn(plain[0], biased)
        forced = json.loads(self.ok(*run, "--logit-bias", "42=100").out)["tokens"]
        self.assertEqual(forced, [42] * 8)
        freed = json.loads(self.ok(*run, "--logit-bias", "42=2", "--presence-penalty", 2,
                                   "--frequency-penalty", 2).out)["tokens"]
        self.assertNotEqual(freed, forced)
        for bias in ("42", "42=", "42=101", "x=1", "42=1x"):
            self.refused(2, f'--logit-bias is "{bias}", expected ID=BIAS', *run, "--logit-bias", bias)

    def test_flags_without_effect_are_errors_that_name_both(self):
        schema = os.path.join(DATA, "nowhere.json")
        for first, second, *words in [
            ("--temp", "--greedy", "run", "-p", "x", "--greedy", "--temp", "0.7"),
            ("--top-k", "--greedy", "chat", "--greedy", "--top-k", "4"),
            ("--top-p", "--greedy", "run", "-p", "x", "--greedy", "--top-p", "0.5"),
            ("--min-p", "--greedy", "run", "-p", "x", "--greedy", "--min-p", "0.5"),
            ("--typical", "--greedy", "run", "-p", "x", "--greedy", "--typical", "0.5"),
            ("--think", "--chat", "run", "-p", "x", "--think", "on"),
            ("--think-budget", "--chat", "run", "-p", "x", "--think-budget", "9"),
            ("--template-kwargs", "--chat", "run", "-p", "x", "--template-kwargs", "{}"),
            ("--prompt-name", "--tokens", "embed", *POOLED, "--tokens", "5", "--prompt-name", "query"),
            ("--file", "--tokens", "embed", *POOLED, "--tokens", "5", "-f", "x"),
            ("--file", "--prompt", "embed", *POOLED, "-p", "x", "-f", "x"),
            ("--file", "--document", "rerank", RANKER, "-q", "x", "-d", "x", "-f", "x"),
            ("--file", "--prompt", "tokenize", "-p", "x", "-f", "x"),
            ("--file", "--prompt", "describe", STORYTELLER, "x.png", "-p", "x", "-f", "x"),
            ("--file", "TEXT", "speak", STORYTELLER, "x", "-f", "x", "-o", "a.wav"),
            ("--json", "--output -", "speak", STORYTELLER, "x", "-o", "-", "--json"),
            ("--regex", "--grammar", "run", "-p", "x", "--grammar", "no grammar", "--regex", "("),
            ("--json-schema", "--grammar", "run", "-p", "x", "--grammar", "x", "--json-schema", schema),
            ("--all", "--json", "logits", "--tokens", "1", "--all"),
            ("--dot", "--graph", "inspect", "--dot"),
            ("--text", "--plan", "inspect", "--memory", "--text"),
            ("--plan", "--graph", "inspect", "--plan", "--graph"),
            ("--dot", "--json", "inspect", "--plan", "--json", "--dot"),
            ("--megapixels", "--plan", "inspect", "--plan", "--megapixels", "1"),
            ("--depth", "--metadata", "inspect", "--metadata", "--depth", "1"),
            ("--sequences", "--n-tokens", "profile", "--n-tokens", "2", "--sequences", "2"),
            ("--check", "--no-check", "bench", "--check", "--no-check"),
            ("--reference", "--no-check", "bench", "--no-check", "--reference", "cpu"),
            ("--arriving", "--sequences", "bench", "--arriving", "5"),
            ("--json", "--kernels", "doctor", "--json", "--kernels"),
            ("--json", "clear", "cache", "clear", "--json"),
            ("--yes", "show", "cache", "--yes"),
            ("CACHE", "prune", "cache", "prune", "weights"),
            ("--unused-for", "clear", "cache", "clear", "--unused-for", "3d"),
            ("--memory-budget", "--memory", "chat", "--memory-budget", "9"),
            ("--rate", "--input", "talk", "--stt", "x", "--tts", "x", "--rate", "8000"),
            ("--texts", "a model that writes texts", "bench", *CPU, "--texts", "4"),
            ("--n-prompt", "a model that embeds or ranks", "bench", RANKER, *CPU, "-p", "8"),
            ("--instruction", "a cross-encoder", "rerank", RANKER, *CPU, "-q", "x", "-d", "y",
             "--instruction", "z"),
        ]:
            with self.subTest(words):
                answer = self.refused(2, [first, second], *words)
                self.assertRegex(answer.errors[0], "does nothing with|does not go with")
        self.refused(2, '--tokens is "", expected token ids', "embed", *POOLED, "--tokens", "")

    def test_letters_and_names_mean_one_thing(self):
        """A letter or a name that means something else in another command is listed here, and why."""
        meanings = {
            "-f": "--file", "-p": "--prompt", "-n": "--max-tokens", "-o": "--output", "-m": "--model",
            "-c": "--context", "-l": "--language", "-r": "--repetitions", "-d": "--depth",
            "-q": "--query", "-v": "--stats", "-sys": "--system", "-y": "--yes", "-a": "--alias",
            "-hf": "--hf-repo", "-mm": "--mmproj", "-pg": "--n-prompt-gen"}
        others = {("bench", "-p"), ("bench", "-n"), ("bench", "-d"),  # llama-bench's names
                  ("rerank", "-d")}  # a document
        for command in sorted(set(COMMANDS) | {"serve", "ps", "mcp"}):
            text = self.ok(command, "--help-all").out
            for line in text.splitlines():
                names = re.match(r"  ((?:[A-Z]+, )?-[^ ,]+(?:, --?[^ ,]+)*)", line)
                if not names:
                    continue
                own = [name for name in names[1].split(", ") if name.startswith("-")]
                for letter in (name for name in own if not name.startswith("--")):
                    if (command, letter) in others or letter == "-h":
                        continue
                    with self.subTest((command, letter)):
                        self.assertIn(meanings.get(letter, "a letter with one meaning"), own, line)
            self.assertNotRegex(text, r"--(backend|html|trace|format) TEXT", command)

    def test_names_of_other_programs_are_known(self):
        for words, meaning in [
            (("run", "-ngl", "99"), "no layers stay on the processor"),
            (("run", "-t", "8"), "--threads N is how many --backend cpu has"),
            (("run", "-fa", "on"), "attention"),
            (("run", "-ctk", "q8_0"), "--kv"),
            (("serve", "-np", "4"), "--max-sequences"),
            (("serve", "--embeddings"), "always answers"),
            (("run", "--n-predict", "4"), "-n N"),
            (("run", "--num_ctx", "4"), "-c N"),
            (("show", "x"), "tokamak inspect"),
            (("ls",), "tokamak list"),
            (("stop", "x"), "--keep-alive"),
            (("quantize", "x", "y", "q8_0"), "-o FILE"),
            (("models/llama",), "did you mean tokamak run models/llama?"),
            (("llama.gguf",), "did you mean tokamak run llama.gguf?"),
        ]:
            self.refused(2, meaning, *words)

    def test_guesses_begin_as_the_word_does(self):
        for words in (("list", "--temp"), ("list", "-v"), ("elp",), ("ron",)):
            answer = tokamak(*words)
            self.assertEqual(answer.status, 2)
            if words != ("ron",):
                self.assertNotIn("did you mean", answer.errors[0])
        self.refused(2, "did you mean --max-tokens?", "run", "--max_token", "3")


class Help(Cli):
    def test_without_a_command_there_is_help(self):
        for words in ((), ("memory",)):
            answer = tokamak(*words)
            self.assertEqual((answer.status, answer.errors), (2, []))
            self.assertEqual(answer.out, self.ok(*words, "--help").out)

    def test_help_of_help(self):
        self.assertEqual(self.ok("help", "help").out, self.ok("help").out)

    def test_help_names_what_the_program_can(self):
        first = self.ok("--help").out.partition("\n")[0]
        for word in ("write", "see", "hear", "speak", "vectors"):
            self.assertIn(word, first)

    def test_commands_of_documents_have_their_options(self):
        """Every option of a command that a document shows in a block is one of that command."""
        root, known, seen = pathlib.Path(program.SOURCE), {}, 0
        for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
            blocks = re.findall(r"^```(?:sh|bash)?\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)
            for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
                for command, rest in re.findall(r"(?:^|[|&;] *|=\S* )tokamak ((?:memory )?[a-z]+)((?: [^|&;#]*)?)", line):
                    if command not in known:
                        known[command] = self.ok(*command.split(), "--help-all").out
                    for option in re.findall(r"(?<= )--?[a-z][a-z-]*", rest.partition("   ")[0]):
                        seen += 1
                        with self.subTest(document=path.name, command=command, option=option):
                            self.assertRegex(known[command], rf"(?<![\w-]){option}(?![\w-])")
        self.assertGreater(seen, 50)

    def test_answers_break_at_spaces(self):
        run = ("run", *map(str, CPU), "--greedy", "-n", "60", "-p", "Once upon a time")
        shown, status = on_terminal(*run, env=program.environment(TERM="xterm"), columns=40)
        self.assertEqual(status, 0)
        text, _, _ = shown.partition("\r\n\r\n[")
        while erased := re.search(r"\x1b\[(\d+)D\x1b\[K", text):  # the beginning of a word that goes to the next line
            text = text[:erased.start() - int(erased[1])] + text[erased.end():]
        lines = text.splitlines()
        self.assertGreater(len(lines), 3)
        self.assertLessEqual(max(map(len, lines)), 40)
        self.assertEqual(text.split(), self.ok(*run).out.split())

    def test_help_is_as_wide_as_the_terminal(self):
        for columns in (60, 80):
            for command in ("run", "talk", "cache"):
                main, terminal = os.openpty()
                subprocess.run(["stty", "cols", str(columns)], stdin=terminal, check=True)
                seen = b""

                def read():
                    nonlocal seen
                    try:
                        while piece := os.read(main, 65536):
                            seen += piece
                    except OSError:
                        pass

                reader = threading.Thread(target=read)
                reader.start()
                subprocess.run([program.PROGRAM, command, "--help"], stdout=terminal, check=True)
                os.close(terminal)
                reader.join()
                os.close(main)
                for line in seen.decode().splitlines():
                    if not re.match(r"  .*tokamak|    --", line):  # examples to be copied
                        self.assertLessEqual(len(line), columns, line)


class Json(Cli):
    def test_what_generates_has_one_head(self):
        out = json.loads(self.ok("run", *CPU, "-p", "x", "-n", 1, "--json").out)
        self.assertEqual((out["model"], out["backend"]), ("storyteller", "cpu"))
        out = json.loads(self.ok("logits", STORYTELLER, *CPU, "--tokens", "1", "--json").out)
        self.assertEqual((out["model"], out["backend"]), (STORYTELLER, "cpu"))
        self.assertRegex(json.dumps(out["load_seconds"]), r"^\d+(\.\d{1,3})?$")

    def test_tokenize_has_json(self):
        out = json.loads(self.ok("tokenize", "-p", "Once upon", "--json").out)
        self.assertEqual(list(out), ["text", "tokens", "pieces"])
        self.assertEqual(len(out["tokens"]), len(out["pieces"]))
        back = json.loads(self.ok("tokenize", "--decode", "--json", "--skip-special",
                                  text=json.dumps(out["tokens"])).out)
        self.assertEqual((back["text"], back["pieces"]), (out["text"], out["pieces"]))


class Thinking(Cli):
    """The storyteller never closes its reasoning; the template opens it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.template = os.path.join(folder.name, "thinking.jinja")
        self.folder = folder.name
        with open(self.template, "w", encoding="utf-8") as file:
            file.write(THINKING)
        self.chat = ("--chat-template", self.template, "--greedy", *CPU)

    def run_json(self, *flags):
        answer = self.ok("run", "--chat", *self.chat, "-p", "Hello", "-n", 12, "--json", *flags)
        return json.loads(answer.out)

    def test_reasoning_is_apart(self):
        out = self.run_json()
        self.assertEqual((out["text"], len(out["tokens"])), ("", 12))
        self.assertGreater(len(out["reasoning"]), 10)

    def test_a_budget_ends_it(self):
        whole, out = self.run_json(), self.run_json("--think-budget", 5)
        self.assertTrue(whole["reasoning"].startswith(out["reasoning"]))
        self.assertGreater(len(out["text"]), 0)
        self.assertEqual(len(out["tokens"]), 12)

    def test_off_ends_it_before_it_begins(self):
        for flags in (("--think", "off"), ("--think-budget", 0)):
            out = self.run_json(*flags)
            self.assertNotIn("reasoning", out)
            self.assertGreater(len(out["text"]), 10)

    def test_a_grammar_leaves_no_room_for_it(self):
        out = self.run_json("--grammar", 'root ::= "yes"')
        self.assertEqual((out["text"], out.get("reasoning")), ("yes", None))

    def test_stop_texts_are_of_the_answer(self):
        text = self.run_json()["reasoning"]
        self.assertEqual(self.run_json("--stop", text[3:8])["reasoning"], text)
        said = self.run_json("--think", "off")["text"]
        out = self.run_json("--think", "off", "--stop", said[3:8])
        self.assertEqual((out["text"], out["finish"]), (said[:said.index(said[3:8])], "stop"))

    def test_a_pipe_gets_it_when_it_is_asked_for(self):
        run = ("run", "--chat", *self.chat, "-p", "Hello", "-n", 12)
        reasoning = self.run_json()["reasoning"]
        answer = self.ok(*run)
        self.assertEqual(answer.out, "\n")
        self.assertIn("ended within the reasoning", answer.notes[0])
        self.assertEqual(self.ok(*run, "--think", "hide").out, "\n")
        self.assertEqual(self.ok(*run, "--think", "on").out, f"<think>\n{reasoning}\n</think>\n\n\n")

    def test_a_terminal_shows_it_dimmed(self):
        env = program.environment(TERM="xterm")
        shown, status = on_terminal("run", "--chat", *self.chat, "-p", "Hello", "-n", "12", env=env)
        self.assertEqual(status, 0)
        self.assertIn("\x1b[2mThinking...", shown)
        self.assertIn("...done thinking.\x1b[0m", shown)
        hidden, _ = on_terminal("run", "--chat", *self.chat, "-p", "Hello", "-n", "12", "--think",
                                "hide", env=env)
        self.assertNotIn("Thinking", hidden)

    def test_a_chat_keeps_it_apart_in_its_messages(self):
        path = os.path.join(self.folder, "chat.json")
        lines = f"Hello\n/think\n/think off\nAnd?\n/save {path}\n"
        answer = self.ok("chat", *self.chat, "-n", 12, "--think-budget", 5, text=lines)
        self.assertIn("think: as the model does", answer.other)
        with open(path, encoding="utf-8") as file:
            first, second = [m for m in json.load(file) if m["role"] == "assistant"]
        self.assertGreater(len(first["reasoning_content"]), 3)
        self.assertNotIn("reasoning_content", second)
        self.assertNotIn("think>", first["content"] + second["content"])

    def test_variables_reach_the_template(self):
        with open(self.template, "w", encoding="utf-8") as file:
            file.write("{{ messages[0].content }}{{ suffix }}")
        run = ("run", "--chat", *self.chat, "-n", 4)
        self.assertEqual(self.ok(*run, "-p", "Once upon", "--template-kwargs",
                                 '{"suffix": " a time"}').out,
                         self.ok(*run, "-p", "Once upon a time").out)
        for text in ("[]", "x"):
            self.refused(2, "--template-kwargs is", *run, "-p", "x", "--template-kwargs", text)


class Inspect(Cli):
    def test_a_model_that_hears_has_two_halves(self):
        for name in ("whisper", "moonshine"):
            with self.subTest(name):
                folder = os.path.join(DATA, "speech", name)
                out = json.loads(self.ok("inspect", folder, *CPU, "--json").out)
                with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
                    config = json.load(file)
                if name == "whisper":
                    self.assertEqual(out["encoder"]["layers"], config["encoder_layers"])
                    self.assertEqual(out["encoder"]["width"], config["d_model"])
                    self.assertEqual(out["encoder"]["feed_forward"], config["encoder_ffn_dim"])
                    self.assertEqual(out["feed_forward"], config["decoder_ffn_dim"])
                    self.assertEqual(out["layers"], config["decoder_layers"])
                self.assertEqual(out["skipped_parameters"], 0, "all of it runs")
                self.assertNotIn("skipped", self.ok("inspect", folder, *CPU).out)
                rows = json.loads(self.ok("inspect", folder, *CPU, "--support", "--json").out)
                self.assertNotIn("encoder", [row["part"] for row in rows])

    def test_support_of_an_unknown_architecture_is_a_whole_report(self):
        source = os.path.join(DATA, "models", "llama_untied")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(source, "model.safetensors"), folder)
            with open(os.path.join(source, "config.json"), encoding="utf-8") as file:
                config = json.load(file)
            config |= {"architectures": ["NobodyForCausalLM"], "index_topk": 2048}
            with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                json.dump(config, file)
            rows = json.loads(self.ok("inspect", folder, "--support", "--json").out)
            by_id = {row["id"]: row for row in rows}
            self.assertFalse(by_id["architecture/NobodyForCausalLM"]["cuda"])
            self.assertIn("nearest/LlamaForCausalLM", by_id)
            self.assertIn("index_topk", by_id["config"]["what"])
            for part in ("operations", "model", "tokenizer", "chat_template", "tools"):
                self.assertIn(part, by_id)
            self.assertLess(max(map(len, self.ok("inspect", folder, "--support").out.split("\n"))), 121)

    def test_products_that_only_gate_are_no_feed_forward_network(self):
        folder = os.path.join(DATA, "speech", "kani_tts2")
        out = json.loads(self.ok("inspect", folder, *CPU, "--json").out)
        self.assertIsInstance(out["feed_forward"], int)


class Folders(Cli):
    """What a folder holds decides how it is opened."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def put(self, name, content=b""):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content)

    def test_one_gguf_file_in_a_folder_is_the_model(self):
        with open(os.path.join(DATA, "gguf", "llama-q4_0.gguf"), "rb") as file:
            content = file.read()
        self.put("model-Q4_0.gguf", content)
        self.put("mmproj-model.gguf")
        self.put("README.md")
        self.ok("tokenize", self.folder, "-p", "Hello")
        self.ok("inspect", self.folder, *CPU)
        self.put("model-Q8_0.gguf", content)
        self.refused(2, ["holds several .gguf files", "model-Q4_0.gguf, model-Q8_0.gguf"], "run",
                     self.folder, "-p", "x", *CPU)

    def test_a_gguf_model_without_its_tower_of_images_names_the_file_that_has_it(self):
        with open(os.path.join(DATA, "gguf", "gemma3-mixed.gguf"), "rb") as file:
            self.put("model.gguf", file.read())
        ask = ["describe", self.folder, os.path.join(DATA, "images", "shapes.png"), "-p", "x", *CPU]
        self.refused(4, "mmproj-*.gguf beside it, or named by --mmproj", *ask)
        self.put("mmproj-model.gguf")
        self.refused(4, "mmproj-model.gguf: The file is empty.", *ask)
        self.refused(3, "no.gguf", *ask, "--mmproj", "no.gguf")
        self.refused(3, 'general.architecture is "gemma3", expected "clip"', *ask, "--mmproj",
                     os.path.join(self.folder, "model.gguf"))
        self.refused(2, "is no GGUF file", "describe", program.model("gemma3_mm"), *ask[2:],
                     "--mmproj", "no.gguf")

    def test_files_that_cannot_be_a_model_are_named(self):
        self.put("empty.gguf")
        self.refused(3, "empty.gguf: The file is empty.", "run", self.folder, "-p", "x", *CPU)
        os.remove(os.path.join(self.folder, "empty.gguf"))
        with open(os.path.join(program.model("llama_untied"), "config.json"), "rb") as file:
            self.put("config.json", file.read())
        self.put("pytorch_model.bin", b"x")
        self.refused(4, "in pytorch_model.bin, a pickle", "run", self.folder, "-p", "x", *CPU)
        self.refused(3, "/nope: there is no such folder; expected the folder of an adapter", "run",
                     "-p", "x", "--lora", "/nope", *CPU)


class PipedChats(Cli):
    def chat(self, text, *flags):
        return tokamak("chat", *CPU, "-n", 1, *flags, text=text)

    def test_commands_that_fail_show_in_the_exit_status(self):
        for line, status in (("/load /nonexistent", 3), ("/image /nonexistent", 3), ("/frob", 3),
                             ("/system", 3), ("/set top-p 2", 3), ("/think maybe", 3),
                             ("/save /nonexistent/x", 6)):
            with self.subTest(line):
                answer = self.chat(f"{line}\n/clear\n")
                self.assertEqual(answer.status, status, answer)
                self.assertEqual(len(answer.errors), 1, answer)
        self.assertEqual(self.chat("/clear\n").status, 0)

    def test_a_line_that_is_no_utf8_is_left_out(self):
        answer = self.chat(b"\xff\xfe\nHello\n")
        self.assertEqual((answer.status, answer.errors),
                         (3, ["error: The message is not valid UTF-8, and was left out."]))
        self.assertNotEqual(answer.out, "", "the next one is answered")

    def test_what_is_no_conversation_is_called_so(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write("not json")
            file.flush()
            self.assertIn("is no saved conversation", self.chat(f"/load {file.name}\n").errors[0])


if __name__ == "__main__":
    program.main(unittest)
