#!/usr/bin/env python3
"""`tokamak chat` as a person at a terminal meets it, and as a pipe does.

Run by CTest; by hand:
  TOKAMAK_PROGRAM=build/release/bin/tokamak TOKAMAK_SOURCE_DIR=. python3 tests/cli/chat_test.py
"""
import json
import os
import pty
import re
import select
import signal
import stat
import tempfile
import termios
import time
import unittest

import program
from program import DATA, tokamak

CPU = ("--backend", "cpu")
LEFT, UP = "\x1b[D", "\x1b[A"
PATIENCE = 60  # seconds, on a busy machine


class Terminal:
    """The program on a pseudo-terminal of 100 columns."""

    def __init__(self, *arguments, cache, backend="cpu"):
        self.text, self.seen = "", 0
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm", TOKAMAK_CACHE_DIR=cache, LC_ALL="C.UTF-8")
            os.execv(program.PROGRAM, [program.PROGRAM, "chat", "--backend", backend, "--greedy", *arguments])
        termios.tcsetwinsize(self.master, (40, 100))

    def read(self, seconds):
        """Adds what comes within that time; False at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:  # nobody has the terminal open any more
            return False
        self.text += data.decode("utf-8", "replace")
        return bool(data)

    def wait_for(self, wanted):
        """-> what came up to `wanted`, which is a text that was not there before."""
        end = time.monotonic() + PATIENCE
        while (at := self.text.find(wanted, self.seen)) < 0:
            if time.monotonic() > end or not self.read(0.2):
                raise AssertionError(f"no {wanted!r} in {self.text[self.seen:]!r}")
        part = self.text[self.seen:at]
        self.seen = at + len(wanted)
        return part

    def wait_for_letters(self):
        """Of an answer that has begun: until then Ctrl-C takes the question back."""
        no_answer = r"\x1b\[[0-9;?]*[A-Za-z]|reading the prompt[^\r]*"
        end = time.monotonic() + PATIENCE
        while not re.search("[a-z]", re.sub(no_answer, "", self.text[self.seen:])):
            if time.monotonic() > end or not self.read(0.2):
                raise AssertionError(f"no letters in {self.text[self.seen:]!r}")

    def type(self, text):
        os.write(self.master, text.encode())

    def enter(self, text, wanted="> "):
        """Types a line; -> what came up to the next prompt."""
        self.type(text + "\r")
        self.wait_for("\n")
        return self.wait_for(wanted)

    def shows_typing(self):
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def exit_status(self):
        while self.read(PATIENCE):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class AtATerminal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *arguments, backend="cpu"):
        terminal = Terminal(*arguments, cache=self.folder, backend=backend)
        self.addCleanup(os.close, terminal.master)
        header = terminal.wait_for("/help lists the commands.")
        terminal.wait_for("> ")
        return terminal, header

    def saved(self, terminal):
        path = os.path.join(self.folder, "saved.json")
        terminal.enter(f"/save {path}")
        with open(path, encoding="utf-8") as file:
            return [(m["role"], m["content"]) for m in json.load(file)]

    def questions(self, terminal):
        return [content for role, content in self.saved(terminal) if role == "user"]

    def test_a_conversation(self):
        terminal, header = self.start("-n", "3")
        self.assertRegex(header, r"storyteller \(built-in\), \w+, context \d+, on ")
        self.assertFalse(terminal.shows_typing())

        with self.subTest("lines are edited, in characters and not in bytes"):
            terminal.enter("Hlo" + 2 * LEFT + "el" + "\x05é\x7f!")
            self.assertEqual(self.questions(terminal), ["Hello!"])
        with self.subTest("what is pasted is one message"):
            terminal.enter("/clear")
            terminal.type("\x1b[200~one\rtwo\rthree\r\x1b[201~")
            terminal.enter("")
            self.assertEqual(self.questions(terminal), ["one\ntwo\nthree"])
        with self.subTest("messages of several lines"):
            terminal.enter("/clear")
            terminal.enter('"""', "... ")
            terminal.enter("a /b", "... ")
            terminal.enter('c"""')
            terminal.enter("d\\", "... ")
            terminal.enter("e")
            terminal.enter(" /f")
            self.assertEqual(self.questions(terminal), ["a /b\nc", "d\ne", "/f"])
        with self.subTest("the last message comes back, of whichever length"):
            terminal.enter("/clear")
            terminal.enter("first")
            terminal.enter(UP)
            self.assertEqual(self.questions(terminal), ["first", "first"])
        with self.subTest("Ctrl-C gives up a line"):
            terminal.type("not this")
            terminal.wait_for("not this")
            terminal.type("\x03")
            shown = terminal.wait_for("> ")
            self.assertNotIn("Ctrl-D", shown)
            self.assertNotIn("\\x1b", shown, "a control sequence that is shown as text")
            terminal.type("\x03")
            self.assertIn("Ctrl-D or /bye to leave", terminal.wait_for("> "))
            self.assertEqual(self.questions(terminal), ["first", "first"])
        with self.subTest("Ctrl-Z lets the shell have its terminal"):
            terminal.type("\x1a")
            self.assertTrue(os.WIFSTOPPED(os.waitpid(terminal.pid, os.WUNTRACED)[1]))
            self.assertTrue(terminal.shows_typing())
            os.kill(terminal.pid, signal.SIGCONT)
            terminal.wait_for("> ")
            self.assertFalse(terminal.shows_typing())

        with self.subTest("settings"):
            self.assertIn("did you mean temperature?", terminal.enter("/set temprature 1"))
            self.assertIn('top-k is "1.5", expected a whole number', terminal.enter("/set top-k 1.5"))
            self.assertIn("2", terminal.enter("/set top-p 2"))
            terminal.enter("/set max-tokens 30")
            self.assertRegex(terminal.enter("/set"), r"top-p +0\.95\r\n(.|\n)*max-tokens +30\r\n")
            self.assertIn("did you mean /retry?", terminal.enter("/rety"))
        with self.subTest("what is typed during an answer waits for the next line"):
            terminal.enter("/clear")
            terminal.type("Once upon a time\r")
            terminal.wait_for("\n")
            terminal.wait_for_letters()
            terminal.type("xyzzy")
            self.assertNotIn("xyzzy", terminal.wait_for("> "))
            terminal.wait_for("xyzzy")
            terminal.type("\x15")
        with self.subTest("only what is new runs, and the last page"):
            terminal.enter("And then?")
            numbers = re.search(r"\[(\d+) prompt tokens \((\d+) cached\)", terminal.enter("/stats"))
            self.assertGreater(int(numbers[2]), int(numbers[1]) - 20 - 16)
        with self.subTest("files that are none"):
            self.assertIn("No such file", terminal.enter("/load /nonexistent"))
            self.assertIn("line 1", terminal.enter("/load " + program.__file__))
            self.assertIn("cannot be written", terminal.enter("/save /nonexistent/x"))
            path = os.path.join(self.folder, "other.json")
            for text, wanted in (('[{"role": "me", "content": ""}]', 'role "me"'),
                                 ('[{"role": "user"}]', "Message 1"), ('{"a": 1}', "an object")):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                self.assertIn(wanted, terminal.enter(f"/load {path}"))
            messages = [{"role": "user", "content": "Hé"}, {"role": "assistant", "content": "ho"}]
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"messages": messages}, file)
            self.assertIn("2 messages", terminal.enter(f"/load {path}"))
            self.assertEqual(self.saved(terminal), [("user", "Hé"), ("assistant", "ho")])

        terminal.type("\x04")
        self.assertEqual(terminal.exit_status(), 0)
        self.assertTrue(terminal.shows_typing())

        path = os.path.join(self.folder, "chat", "history")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with self.subTest("another chat knows what was typed"):
            terminal, _ = self.start("-n", "3")
            terminal.type(UP)
            terminal.wait_for("/save")
            os.kill(terminal.pid, signal.SIGTERM)
            self.assertEqual(terminal.exit_status(), -signal.SIGTERM)
            self.assertTrue(terminal.shows_typing())

    def test_ctrl_c_always_leads_to_the_prompt(self):
        # The reference takes seconds for a prompt that the fast processor has read before the key is there.
        terminal, _ = self.start("-n", "1000", "--chunk", "16", backend="cpu-reference")
        terminal.type("Hello!\r")
        terminal.wait_for("\n")
        terminal.wait_for_letters()
        for _ in range(2):  # one ends the answer, one more ends nothing
            terminal.type("\x03")
            terminal.wait_for("> ")
        answer = self.saved(terminal)[1]
        self.assertEqual(answer[0], "assistant")
        self.assertNotEqual(answer[1], "")

        terminal.enter("/clear")
        start = time.monotonic()
        terminal.type(450 * "a story " + "\r")
        time.sleep(0.3)
        terminal.type("\x03")
        self.assertIn("/retry asks again", terminal.wait_for("\r\n> "))
        self.assertLess(time.monotonic() - start, 10)
        terminal.enter("/set max-tokens 1")
        terminal.enter("short")
        self.assertEqual(self.questions(terminal), ["short"], "no answer, so it made way")

        terminal.enter("/clear")
        self.assertIn("and the context 2048. /clear starts over", terminal.enter(2100 * "a story "))
        terminal.type("/bye\r")
        self.assertEqual(terminal.exit_status(), 0)


class InAPipe(unittest.TestCase):
    def test_nothing_but_answers(self):
        answer = tokamak("chat", *CPU, "--greedy", "-n", 3, text='Hello!\n"""a\nb"""\n')
        self.assertEqual((answer.status, answer.errors + answer.other), (0, []), answer)
        self.assertEqual(len(answer.out.splitlines()), 2, answer)

    def test_a_turn_is_what_it_would_be_alone(self):
        """The second turn runs on the cache of the first."""
        typed = "Hello!\n/retry\nWho are you?\n"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "turns.json")
            first = tokamak("chat", *CPU, "--greedy", "-n", 40, text=typed + f"/save {path}\n/stats\n")
            kept = re.search(r"(\d+) cached", "\n".join(first.other))
            self.assertGreater(int(kept[1]), 25, first)
            with open(path, encoding="utf-8") as file:
                turns = json.load(file)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(turns[:-1], file)
            alone = tokamak("chat", *CPU, "--greedy", "-n", 40, "-v",
                            text=f"/load {path}\n/retry\n")
        self.assertEqual(alone.out.strip(), turns[-1]["content"].strip())
        self.assertIn("(0 cached)", "".join(alone.other))

    def test_a_model_without_a_template_is_refused_at_once(self):
        path = os.path.join(DATA, "gguf", "llama-q4_0.gguf")
        broken = self.enterContext(tempfile.NamedTemporaryFile("w", suffix=".jinja"))
        broken.write("{% if %}")
        broken.flush()
        for flags, status, wanted in (
            ((), 3, ["no chat template", "--chat-template NAME|FILE", "chatml"]),
            (("--chat-template", "nosuch"), 2, ['is "nosuch"', "neither a file", "none at all"]),
            (("--chat-template", broken.name), 3, [".jinja", "line 1"]),
        ):
            for command in (("chat",), ("run", "--chat")):
                answer = tokamak(*command, path, *CPU, *flags, text="never read")
                self.assertEqual((answer.status, answer.out), (status, ""), answer)
                for part in wanted:
                    self.assertIn(part, answer.errors[0])

    def test_a_template_means_the_same_to_run_and_chat(self):
        path = os.path.join(DATA, "gguf", "llama-q4_0.gguf")
        own = self.enterContext(tempfile.NamedTemporaryFile("w", suffix=".jinja"))
        own.write("{{ bos_token }}Question: {{ messages[0].content }}\nAnswer:")
        own.flush()
        flags = (path, *CPU, "--greedy", "-n", 8)
        answers = set()
        for template in ("chatml", "llama3", own.name):
            answer = tokamak("run", "--chat", "--chat-template", template, *flags, text="Hello\n")
            self.assertEqual(answer.status, 0, answer)
            chat = tokamak("chat", "--chat-template", template, *flags, text="Hello\n")
            self.assertEqual(answer.out, chat.out)
            answers.add(answer.out)
        self.assertEqual(len(answers), 3, "each is another prompt")
        plain = tokamak("run", *flags, text="Question: Hello\nAnswer:\n")
        self.assertEqual(plain.out, "Question: Hello\nAnswer:" + answer.out)


class Images(unittest.TestCase):
    """Messages with images, on a pipe."""

    MODEL = os.path.join(DATA, "vision", "qwen3_5_vl_images")
    IMAGE = os.path.join(DATA, "images", "wide.png")

    def chat(self, *lines, model=MODEL):
        model = [model] if model else []
        return tokamak("chat", *model, *CPU, "--greedy", "-n", 4, "-v",
                       text="".join(line + "\n" for line in lines))

    def prompt_tokens(self, answer):
        return [int(n) for line in answer.other for n in re.findall(r"\[(\d+) prompt tokens", line)]

    def test_an_image_is_part_of_the_next_message(self):
        shown = self.chat(f"/image {self.IMAGE}", "What is it?", "And now?")
        plain = self.chat("What is it?", "And now?")
        self.assertIn(f"{self.IMAGE} goes with the next message, 10 tokens.", shown.other)
        # Its tokens and the two around them, in that message only.
        for with_it, without in zip(self.prompt_tokens(shown), self.prompt_tokens(plain), strict=True):
            self.assertEqual(with_it, without + 12)

    def test_a_conversation_with_images_is_saved_and_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "chat.json")
            before = self.chat(f"/image {self.IMAGE}", "What is it?", f"/save {file}", "/retry")
            with open(file, encoding="utf-8") as saved:
                self.assertEqual(json.load(saved)[0]["images"], [self.IMAGE])
            after = self.chat(f"/load {file}", "/retry")
            self.assertEqual(self.prompt_tokens(after), self.prompt_tokens(before)[1:])

    def test_what_is_no_image_is_said(self):
        self.assertIn("no/such.png", self.chat("/image no/such.png").errors[0])
        self.assertIn("is a Gemma3ForCausalLM, which reads text only",
                      self.chat(f"/image {self.IMAGE}", model=None).errors[0])


if __name__ == "__main__":
    program.main(unittest)
