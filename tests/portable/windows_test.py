"""The folder for Windows that ./dev package made, under Wine: what it computes is what the program of this system computes.

./dev check wine runs it: TOKAMAK_PACKAGES has the folder, TOKAMAK_PROGRAM is this system's program, TOKAMAK_SOURCE_DIR the
sources.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from bare_root import output_of

PACKAGES = pathlib.Path(os.environ["TOKAMAK_PACKAGES"])
SOURCE = pathlib.Path(os.environ["TOKAMAK_SOURCE_DIR"])
HERE = os.environ["TOKAMAK_PROGRAM"]
sys.path += [str(SOURCE / "tests" / "cli"), str(SOURCE / "tests" / "hub")]
import hub_server  # noqa: E402  pylint: disable=wrong-import-position
import transcribe_test  # noqa: E402  pylint: disable=wrong-import-position
STORY = ("run", "--greedy", "-n", "48", "-p", "Once upon a time")
NAME = "ein Ordner für 模型"  # spaces, and characters of two alphabets


class Windows(unittest.TestCase):
    """Each test in a folder with such a name, where the program and a file for it may be."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.place = pathlib.Path(cls.scratch.name, NAME)
        found = [path for path in PACKAGES.glob("tokamak-*-windows-x86_64") if path.is_dir()]
        if len(found) != 1:
            raise AssertionError(f"{PACKAGES} has {len(found)} folders for Windows, expected 1: run ./dev package windows-x86_64")
        shutil.copytree(found[0], cls.place)
        cls.variables = os.environ | {
            "WINEPREFIX": os.path.join(cls.scratch.name, "wine"), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "winedbg.exe=d",
            "TOKAMAK_CACHE_DIR": cls.windows(pathlib.Path(cls.scratch.name, "cache"))}
        cls.variables.pop("DISPLAY", None)
        cls.run_there("--version")  # Wine makes its folder, which takes a while

    @classmethod
    def tearDownClass(cls):
        # Wine's own server ends with the last program, and writes its folder until then.
        subprocess.run(["wineboot", "--kill"], env=cls.variables, stderr=subprocess.DEVNULL, check=False)
        subprocess.run([shutil.which("wineserver") or "/usr/lib/wine/wineserver", "--wait"], env=cls.variables, timeout=60, check=False)
        cls.scratch.cleanup()

    @staticmethod
    def windows(path):
        """-> the path as Windows has it; Wine calls this system's root Z."""
        return "Z:" + str(path).replace("/", "\\")

    @classmethod
    def command(cls, *words):
        return ["wine", cls.place / "tokamak.exe", *words]

    @classmethod
    def run_there(cls, *words, status=0, **variables):
        """-> standard output and standard error."""
        return output_of(cls.command(*words), cls.variables | variables, folder=cls.place, status=status)

    @classmethod
    def run_here(cls, *words):
        return output_of([HERE, *words], os.environ, folder=cls.place)[0]


class Computes(Windows):
    def test_the_tokens_of_this_system(self):
        for backend in ("cpu-reference", "cpu"):
            with self.subTest(backend):
                there, err = self.run_there(*STORY, "--backend", backend)
                self.assertEqual(there, self.run_here(*STORY, "--backend", backend))
                self.assertNotIn("error", err)

    def test_a_model_and_texts_of_any_alphabet(self):
        model = self.place / "Modèle 小さな"
        shutil.copytree(SOURCE / "models" / "storyteller", model)
        for path in (model.name, self.windows(model)):
            with self.subTest(path):
                there, _ = self.run_there("tokenize", path, "-p", "Zwölf Jäger, 模型 und 🦊", "--json")
                self.assertEqual(there, self.run_here("tokenize", model, "-p", "Zwölf Jäger, 模型 und 🦊", "--json"))
                self.assertIn(model.name, self.run_there("inspect", path)[0])

    def test_what_is_printed_goes_into_a_file_of_any_name(self):
        self.run_there("memory", "add", "-m", self.windows(SOURCE / "models" / "storyteller"), "--pooling", "mean",
                       "--backend", "cpu", "-t", "The fox sleeps under the oak.", "--source", "Wälder", "--store", "Gedächtnis.db")
        self.assertIn("fox", self.run_there("memory", "search", "fox", "--store", "Gedächtnis.db", "--backend", "cpu")[0])
        self.run_there("memory", "export", "Wälder 森.jsonl", "--store", "Gedächtnis.db")
        line = json.loads((self.place / "Wälder 森.jsonl").read_text(encoding="utf-8").splitlines()[-1])
        self.assertEqual(line["source"], "Wälder")

    def test_recordings_of_each_kind(self):
        model = transcribe_test.make_model("moonshine", 512)
        try:
            for file in ("s16_16k.wav", "s16.flac", "layer3.mp3", "vorbis.ogg", "opus.opus"):
                path = SOURCE / "tests" / "data" / "audio" / file
                with self.subTest(file):
                    there, _ = self.run_there("transcribe", self.windows(model), self.windows(path), "--backend", "cpu")
                    self.assertEqual(there, self.run_here("transcribe", model, path, "--backend", "cpu"))
                    self.assertRegex(there, transcribe_test.WORDS)
        finally:
            shutil.rmtree(model)


class Reports(Windows):
    def test_doctor_names_what_is_of_windows(self):
        out, _ = self.run_there("doctor")
        self.assertIn("cpu: ", out)
        self.assertIn("webgpu_dawn.dll", out)
        self.assertIn(NAME, out)
        self.assertNotIn(".so", out)
        self.assertNotIn("/dev/", out)

    def test_another_library_in_the_place_of_dawn_is_refused(self):
        shutil.copy(self.place / "libsoxr.dll", self.place / "webgpu_dawn.dll")
        try:
            self.assertIn("webgpu_dawn.dll\" lacks the function wgpu", self.run_there("doctor")[0])
            there, _ = self.run_there(*STORY)
            self.assertEqual(there, self.run_here(*STORY, "--backend", "cpu"))
        finally:
            os.remove(self.place / "webgpu_dawn.dll")

    def test_a_missing_file_is_an_error_by_its_name(self):
        _, err = self.run_there("run", "nicht da 模", "-p", "x", status=2)
        self.assertIn("nicht da 模", err)

    def test_holds_its_licences(self):
        lines = (self.place / "versions.txt").read_text(encoding="utf-8").splitlines()
        names = [line.split()[-2] for line in lines]
        self.assertTrue({"curl", "openssl", "lame", "libsndfile", "sqlite3"} <= set(names), names)
        for name in names:
            self.assertGreater((self.place / "licenses" / f"{name}.txt").stat().st_size, 100, name)


class Network(Windows):
    def ask(self, port, path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    def test_serves_until_it_is_interrupted(self):
        process = subprocess.Popen(list(map(str, self.command("serve", "--port", "0", "--backend", "cpu"))), env=self.variables,
                                   cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            for line in process.stdout:
                if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                    break
            else:
                self.fail("The server ended before it listened.")
            port = found[1]
            whole = json.loads(self.ask(port, "/v1/completions", {"prompt": "Once upon a time", "max_tokens": 48, "temperature": 0}))
            self.assertEqual("Once upon a time" + whole["choices"][0]["text"], self.run_here(*STORY, "--backend", "cpu").rstrip("\n"))
            messages = {"messages": [{"role": "user", "content": "Wer ist Jürgen?"}], "max_tokens": 8, "temperature": 0}
            text = json.loads(self.ask(port, "/v1/chat/completions", messages))["choices"][0]["message"]["content"]
            events = self.ask(port, "/v1/chat/completions", messages | {"stream": True}).split("\n\n")
            self.assertEqual(events[-2], "data: [DONE]")
            pieces = [json.loads(event.removeprefix("data: "))["choices"] for event in events[:-2]]
            self.assertEqual("".join(piece[0]["delta"].get("content") or "" for piece in pieces if piece), text)
        finally:
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, rest)

    def test_pulls_nothing_from_a_list_that_leads_out_of_the_cache(self):
        home = pathlib.Path(self.scratch.name, "hub")
        for name in ("C:evil.gguf", "C:/evil.gguf", "model.gguf:stream.gguf", "NUL.gguf", "aux/model.gguf"):
            with self.subTest(name):
                hub = hub_server.Hub(**{"org__name": hub_server.Repo({name: b"GGUF"})})
                try:
                    _, err = self.run_there("pull", "org/name", status=3, HF_HOME=self.windows(home), HF_ENDPOINT=hub.endpoint)
                    self.assertIn(f'takes no file of the name "{name}"', err)
                finally:
                    hub.close()

    def test_pulls_without_symbolic_links(self):
        model = SOURCE / "tests" / "data" / "models" / "llama_untied"
        files = {path.name: path.read_bytes() for path in model.iterdir() if not path.name.startswith("golden")}
        hub = hub_server.Hub(**{"org__name": hub_server.Repo(files, large=["model.safetensors"])})
        home = pathlib.Path(self.scratch.name, "Zwischenlager 模")
        variables = {"HF_HOME": self.windows(home), "HF_ENDPOINT": hub.endpoint}
        try:
            self.run_there("pull", "org/name", **variables)
            snapshot = home / "hub" / "models--org--name" / "snapshots" / hub_server.COMMIT
            blob = snapshot.parent.parent / "blobs" / hub_server.Repo(files, large=["model.safetensors"]).hash("model.safetensors")
            self.assertFalse((snapshot / "model.safetensors").is_symlink())
            self.assertTrue((snapshot / "model.safetensors").samefile(blob))  # once on the disk
            self.run_there("pull", "org/name", **variables)
            self.assertIn("org/name", self.run_there("list", **variables)[0])
            self.assertIn("architecture", self.run_there("inspect", "org/name", **variables)[0])
            self.run_there("rm", "org/name", "--yes", **variables)
            self.assertFalse(blob.exists())
        finally:
            hub.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
