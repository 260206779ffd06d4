#!/usr/bin/env python3
"""pull, list, rm, inspect and models by name against a hub on this machine.

Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/hub/hub_test.py
"""
import hashlib
import json
import os
import pathlib
import pty
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import program  # noqa: E402
from program import environment, model, on_terminal, tokamak  # noqa: E402

from hub_server import COMMIT, Fault, Hub, Repo  # noqa: E402

CPU = ("--backend", "cpu")
MIB = 1 << 20
# Larger than one part of a download (32 MiB), so that parts are fetched side by side.
BIG = random.Random(1).randbytes(70 * MIB + 12345)


def model_files(name):
    folder = pathlib.Path(model(name))
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.startswith("golden")}


def tiny_repo(**options):
    """A model that runs, and beside it what nobody needs."""
    files = model_files("llama_untied")
    files |= {"README.md": b"# A model", "pytorch_model.bin": b"pickle", "onnx/model.onnx": b"onnx",
              "original/consolidated.00.pth": b"again", "consolidated.safetensors": b"again",
              "pytorch_model.bin.index.json": b"{}", ".gitattributes": b"x"}
    return Repo(files, large=["model.safetensors", "pytorch_model.bin"], **options)


def big_repo():
    return Repo({"config.json": b"{}", "model.safetensors": BIG}, large=["model.safetensors"])


class HubTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.home = pathlib.Path(self.folder.name)
        self.cache = self.home / "hub"
        self.hubs = []
        self.env = environment(HF_HOME=str(self.home), HOME=str(self.home), HF_HUB_CACHE=None,
                               HUGGINGFACE_HUB_CACHE=None, HF_TOKEN=None, HF_TOKEN_PATH=None,
                               HF_HUB_OFFLINE=None, http_proxy=None, HTTP_PROXY=None)

    def tearDown(self):
        for hub in self.hubs:
            hub.close()
        self.folder.cleanup()

    def hub(self, **repos):
        hub = Hub(**repos)
        self.hubs.append(hub)
        self.env["HF_ENDPOINT"] = hub.endpoint
        return hub

    def run_program(self, *arguments, **options):
        return tokamak(*arguments, env=options.pop("env", self.env), **options)

    def pulled(self, *arguments, **options):
        answer = self.run_program("pull", *arguments, **options)
        self.assertEqual((answer.status, answer.errors), (0, []), answer)
        return pathlib.Path(answer.out.rstrip("\n"))

    def refused(self, mentions, *arguments, status=3, **options):
        answer = self.run_program(*arguments, **options)
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(len(answer.errors), 1, answer)
        for mention in [mentions] if isinstance(mentions, str) else mentions:
            self.assertIn(mention, answer.errors[0])
        return answer

    def repo_folder(self, name="org--name"):
        return self.cache / f"models--{name}"

    def blobs(self):
        return sorted(p.name for p in (self.repo_folder() / "blobs").iterdir())

    def start_pull(self, *arguments, **options):
        return subprocess.Popen([program.PROGRAM, "pull", *arguments], env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def wait_until(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)


class Layout(HubTest):
    def test_files_lie_where_huggingface_hub_looks_for_them(self):
        repo = tiny_repo()
        self.hub(org__name=repo)
        path = self.pulled("org/name")
        folder = self.repo_folder()
        self.assertEqual(path, folder / "snapshots" / COMMIT)
        self.assertEqual((folder / "refs" / "main").read_bytes(), COMMIT.encode())
        names = sorted(p.name for p in path.iterdir())
        self.assertEqual(names, ["config.json", "generation_config.json", "model.safetensors"])
        for name in names:
            self.assertEqual(os.readlink(path / name), f"../../blobs/{repo.hash(name)}")
            self.assertEqual((path / name).read_bytes(), repo.files[name])
        self.assertEqual(self.blobs(), sorted(repo.hash(name) for name in names))

    def test_a_second_pull_fetches_nothing(self):
        hub = self.hub(org__name=tiny_repo())
        self.pulled("org/name")
        hub.log.clear()
        self.pulled("org/name")
        self.assertEqual(hub.sent("resolve"), 0)
        self.assertEqual(len(hub.log), 1)

    def test_what_another_tool_has_fetched_is_not_fetched_again(self):
        repo = tiny_repo()
        hub = self.hub(org__name=repo)
        blobs = self.repo_folder() / "blobs"
        blobs.mkdir(parents=True)
        (blobs / repo.hash("model.safetensors")).write_bytes(repo.files["model.safetensors"])
        self.pulled("org/name")
        self.assertEqual(hub.sent("model.safetensors"), 0)

    def test_shards_folders_of_modules_and_templates(self):
        files = model_files("llama_sharded")
        shards = [name for name in files if "-of-" in name]
        self.assertGreater(len(shards), 1)
        files |= {
            "modules.json": b'[{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}]',
            "1_Pooling/config.json": b'{"a": 1}',
            "2_Dense/config.json": b"",
            "2_Dense/model.safetensors": b"dense",
            "2_Dense/pytorch_model.bin": b"dense again",
            "additional_chat_templates/rag.jinja": b"{{ messages }}",
            "model-00009-of-00009.safetensors": b"of no index",
        }
        self.hub(org__name=Repo(files, large=[*shards, "2_Dense/model.safetensors"]))
        path = self.pulled("org/name")
        found = sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file())
        expected = [name for name in files
                    if not name.endswith(".bin") and name != "model-00009-of-00009.safetensors"]
        self.assertEqual(found, sorted(expected))
        link = path / "2_Dense" / "model.safetensors"
        self.assertTrue(os.readlink(link).startswith("../../../blobs/"))
        self.assertEqual(link.read_bytes(), b"dense")

    def test_branches_tags_and_commits(self):
        self.hub(org__name=tiny_repo(revisions=("main", "v1.0", "refs/pr/7")))
        self.pulled("org/name@refs/pr/7")
        self.assertEqual((self.repo_folder() / "refs/refs/pr/7").read_text(), COMMIT)
        self.pulled("org/name@" + COMMIT)
        self.pulled("org/name@v1.0")
        self.assertFalse((self.repo_folder() / "refs/main").exists())

    def test_one_gguf_file_of_several(self):
        files = {f"name-{kind}.gguf": kind.encode() for kind in ("Q4_K_M", "Q4_K_S", "Q8_0")}
        files |= {"mmproj-Q8_0.gguf": b"eyes", "big/name-F16-00001-of-00002.gguf": b"one",
                  "big/name-F16-00002-of-00002.gguf": b"two", "config.json": b"{}"}
        self.hub(org__name=Repo(files, large=files))
        path = self.pulled("org/name:q4_k_m")
        self.assertEqual(path.name, "name-Q4_K_M.gguf")
        self.assertEqual([p.name for p in path.parent.iterdir()], [path.name])
        self.assertEqual(self.pulled("org/name:mmproj-Q8_0.gguf").read_bytes(), b"eyes")
        path = self.pulled("org/name:F16")
        self.assertEqual(path.name, "name-F16-00001-of-00002.gguf")
        self.assertEqual(len(list(path.parent.iterdir())), 2)
        answer = self.run_program("pull", "https://huggingface.co/org/name")
        self.assertEqual(answer.status, 0, answer)
        self.assertTrue(answer.out.endswith("/name-Q4_K_M.gguf\n"))
        self.assertEqual(answer.notes, ["note: org/name has several .gguf files; Q4_K_M is taken, "
                                        "org/name:NAME takes another."])
        self.refused(["Q5_0", "name-Q8_0.gguf"], "pull", "org/name:Q5_0")
        listed = self.run_program("list")
        self.assertRegex(listed.out, r"org/name +main +01234567 .* F16, Q4_K_M +complete\n")

    def test_weights_that_nobody_reads(self):
        self.hub(org__name=Repo({"config.json": b"{}", "pytorch_model.bin": b"x"}))
        self.refused(["org/name", "pytorch_model.bin"], "pull", "org/name", status=4)


class Names(HubTest):
    def test_a_model_runs_by_its_name(self):
        self.hub(org__name=tiny_repo())
        self.pulled("org/name")
        direct = self.run_program("logits", model("llama_untied"), "--tokens", "1,2,3", *CPU)
        for name in ("org/name", "org/name@main", "org/name@" + COMMIT):
            named = self.run_program("logits", name, "--tokens", "1,2,3", *CPU)
            self.assertEqual((named.status, named.out), (0, direct.out), named)

    def test_every_command_says_how_to_get_a_model(self):
        for command in (("run", "org/none", "-p", "x"), ("chat", "org/none"),
                        ("logits", "org/none", "--tokens", "1"), ("tokenize", "org/none"),
                        ("bench", "org/none"), ("template", "org/none")):
            with self.subTest(command[0]):
                self.refused("`tokamak pull org/none`", *command, *(
                    () if command[0] in ("tokenize", "template") else CPU), text="{}")

    def test_run_fetches_what_is_not_there_when_told_to(self):
        self.hub(org__name=tiny_repo(), org__other=tiny_repo(), org__third=tiny_repo())
        ids = ("--tokens", "1,2,3", *CPU)
        for words in (("org/name", "--pull"), ("--pull", "hf.co/org/other"), ("-hf", "org/third")):
            answer = self.run_program("logits", *words, *ids)
            self.assertEqual(answer.status, 0, answer)
            self.assertIn("3 files of ", answer.other[-1])
            self.assertEqual(self.run_program("logits", words[-1] if words[0] == "-hf" else
                                              [w for w in words if "/" in w][0], *ids).status, 0)

    def test_a_person_is_asked_whether_to_fetch(self):
        self.hub(org__name=tiny_repo())
        words = ("logits", "org/name", "--tokens", "1,2,3", *CPU)
        question = f"org/name is not on this machine; pull it from {self.env['HF_ENDPOINT']}? [Y/n]"
        for typed, status in ((b"n\n", 3), (b"\n", 0)):
            seen, found = on_terminal(*words, typed=typed, env=self.env)
            self.assertIn(question, seen)
            self.assertEqual(found, status, seen)
        self.assertNotIn(question, on_terminal(*words, env=self.env)[0])

    def test_a_folder_wins_over_a_name(self):
        self.hub(org__name=tiny_repo())
        self.pulled("org/name")
        os.makedirs(self.home / "org/name")
        before = os.getcwd()
        os.chdir(self.home)
        self.addCleanup(os.chdir, before)
        self.refused("org/name has no config.json", "logits", "org/name", "--tokens", "1", *CPU)

    def test_names_that_are_none(self):
        for name in ("name", "a/b/c", "../name", "org/..", "org/na me", "org/name@../x", "or--g/name",
                     "org/name:../../etc/passwd", "org/name@a//b", "org/", "/name", "org\\name",
                     "org/name:", "org/name@", "org/name.git", "https://hub/org/name"):
            with self.subTest(name):
                answer = self.run_program("pull", name)
                self.assertEqual(answer.status, 2, answer)
                self.assertEqual(len(answer.errors), 1, answer)
        self.assertFalse(self.cache.exists())

    def test_a_revision_and_a_quantization_that_are_not_there(self):
        self.hub(org__name=tiny_repo())
        self.pulled("org/name")
        self.refused(['"v2"', "`tokamak pull org/name@v2`"], "logits", "org/name@v2", "--tokens", "1")
        self.refused(["no .gguf", "org/name:Q4_0"], "logits", "org/name:Q4_0", "--tokens", "1")

    def test_several_files_and_none_that_a_name_means(self):
        files = {f"name-{kind}.gguf": b"x" for kind in ("Q4_0", "Q8_0")}
        self.hub(org__name=Repo(files, large=files))
        command = "`tokamak pull org/name:name-Q4_0.gguf`"
        self.refused(["org/name: 2 .gguf files are there", command], "pull", "org/name", status=2)
        for kind in ("Q4_0", "Q8_0"):
            self.pulled("org/name:" + kind)
        self.refused(["2 .gguf files are there", command], "run", "org/name", "-p", "x", status=2)

    def test_a_model_that_is_only_partly_there(self):
        self.hub(org__name=tiny_repo())
        (self.pulled("org/name") / "model.safetensors").unlink()
        self.refused(["only partly", "`tokamak pull org/name`"], "logits", "org/name", "--tokens", "1")


class Failures(HubTest):
    def test_a_gated_model(self):
        repo = tiny_repo()
        repo.gated = "hf_good"
        hub = self.hub(org__name=repo)
        self.refused(["gated", hub.endpoint + "/org/name", "HF_TOKEN"], "pull", "org/name")
        self.env["HF_TOKEN"] = "hf_bad"
        self.refused(["gated", "no access"], "pull", "org/name")
        self.env["HF_TOKEN"] = "hf_good"
        self.pulled("org/name")

    def test_the_token_goes_to_the_hub_and_to_nobody_else(self):
        repo = tiny_repo()
        repo.gated = "hf_secret"
        hub = self.hub(org__name=repo)
        (self.home / "token").write_text("hf_secret\n")
        self.pulled("org/name")
        store = hub.store.server_address[1]
        self.assertTrue(any(r.port == store for r in hub.log))
        for request in hub.log:
            expected = None if request.port == store else "Bearer hf_secret"
            self.assertEqual(request.authorization, expected, request)

    def test_a_token_that_no_header_can_hold(self):
        hub = self.hub(org__name=tiny_repo())
        self.env["HF_TOKEN"] = "hf_a\r\nX-Evil: 1"
        answer = self.refused("HF_TOKEN", "pull", "org/name", status=2)
        self.assertNotIn("hf_a", answer.errors[0])
        self.assertEqual(hub.log, [])

    def test_models_revisions_and_files_that_do_not_exist(self):
        hub = self.hub(org__name=tiny_repo())
        self.refused(["org/none", "HF_TOKEN"], "pull", "org/none")
        self.refused(["org/name", '"v9"'], "pull", "org/name@v9")
        hub.edit = lambda reply: reply | {"siblings": reply["siblings"] + [
            {"rfilename": "vocab.json", "size": 3, "blobId": "0" * 40}]}
        self.refused(["org/name", '"vocab.json"'], "pull", "org/name")

    def test_a_busy_hub_is_asked_again_when_it_says(self):
        hub = self.hub(org__name=tiny_repo())
        hub.faults.append(Fault("/api/", status=429, headers={"Retry-After": "1"}))
        start = time.monotonic()
        self.pulled("org/name")
        self.assertGreaterEqual(time.monotonic() - start, 1)
        hub.faults.append(Fault("/api/", status=429, headers={"Retry-After": "7200"}))
        self.refused(["120 minutes", "429"], "pull", "org/name")

    def test_a_failing_hub_is_asked_again(self):
        hub = self.hub(org__name=tiny_repo())
        hub.faults += [Fault("/api/", status=503), Fault("store", status=500),
                       Fault("config.json", status=502)]
        self.pulled("org/name")

    def test_a_hub_that_keeps_failing(self):
        hub = self.hub(org__name=tiny_repo())
        hub.faults.append(Fault("store", times=None, status=500))
        self.refused(["model.safetensors", "status 500", "tokamak pull org/name"], "pull", "org/name")
        self.assertFalse((self.repo_folder() / "refs").exists())

    def test_a_listing_that_is_always_cut(self):
        hub = self.hub(org__name=tiny_repo())
        hub.faults.append(Fault("/api/", times=None, cut_after=40))
        self.refused(["tokamak pull org/name"], "pull", "org/name")
        self.assertEqual(len(hub.requests("/api/")), 6)

    def test_a_redirect_that_has_expired(self):
        hub = self.hub(org__name=big_repo())
        hub.faults.append(Fault("store", status=403))
        self.pulled("org/name")

    def test_redirects_in_circles_and_to_other_protocols(self):
        hub = self.hub(org__name=tiny_repo())
        hub.faults.append(Fault("resolve", times=None, location="/org/name/resolve/again"))
        self.refused("circles", "pull", "org/name")
        hub.faults[:] = [Fault("resolve", times=None, location="file:///etc/passwd")]
        self.refused("no http address", "pull", "org/name")

    def test_no_network(self):
        self.env["HF_ENDPOINT"] = "http://127.0.0.1:9"
        self.refused(["127.0.0.1", "cannot be reached", "tokamak list"], "pull", "org/name")
        self.env["HF_ENDPOINT"] = "ftp://example.org"
        self.refused("HF_ENDPOINT", "pull", "org/name", status=2)

    def test_offline(self):
        hub = self.hub(org__name=tiny_repo())
        self.pulled("org/name")
        hub.log.clear()
        self.env["HF_HUB_OFFLINE"] = "1"
        self.refused("HF_HUB_OFFLINE", "pull", "org/name")
        answer = self.run_program("logits", "org/name", "--tokens", "1", *CPU)
        self.assertEqual(answer.status, 0, answer)
        self.refused("tokamak pull org/other", "inspect", "org/other", *CPU)
        self.assertEqual(hub.log, [])

    def test_contents_with_another_hash(self):
        repo = tiny_repo()
        hub = self.hub(org__name=repo)
        good = repo.files["model.safetensors"]
        hub.edit = lambda reply: json.loads(json.dumps(reply).replace(
            hashlib.sha256(good).hexdigest(), "e" * 64))
        self.refused(["model.safetensors", "SHA-256", "e" * 64, "deleted"], "pull", "org/name")
        self.assertFalse([b for b in self.blobs() if b.startswith("e" * 64)])
        hub.edit = lambda reply: json.loads(json.dumps(reply).replace(
            repo.hash("config.json"), "d" * 40))
        self.refused(["config.json", "SHA-1", "d" * 40], "pull", "org/name")
        hub.edit = lambda reply: reply
        self.pulled("org/name")

    def test_sizes_that_are_lies(self):
        repo = tiny_repo()
        hub = self.hub(org__name=repo)
        size = len(repo.files["model.safetensors"])
        for lie in (size - 100, size + 100, 12):
            with self.subTest(lie - size):
                hub.edit = lambda reply: json.loads(json.dumps(reply).replace(
                    f'"size": {size}', f'"size": {lie}'))
                self.refused(["model.safetensors", str(lie)], "pull", "org/name")
        hub.edit = lambda reply: json.loads(json.dumps(reply).replace(
            f'"size": {size}', f'"size": {1 << 48}'))
        self.refused(["MB free", "HF_HUB_CACHE"], "pull", "org/name", status=5)

    def test_lists_of_files_that_lead_out_of_the_cache(self):
        repo = tiny_repo()
        hub = self.hub(org__name=repo)
        good = repo.reply()
        entry = {"rfilename": "a.json", "size": 1, "blobId": "0" * 40}
        for change in ({"rfilename": "../../../evil.json"}, {"rfilename": "/etc/evil.json"},
                       {"rfilename": "a/../../evil.json"}, {"rfilename": "a\\evil.json"},
                       {"rfilename": "a\nb.json"}, {"rfilename": ""}, {"rfilename": "a//b.json"},
                       {"rfilename": "x" * 300 + ".json"}, {"blobId": "../../../evil"},
                       {"blobId": None}, {"size": -1}, {"size": 1.5}, {"size": "1"}, {"size": 1 << 60},
                       {"rfilename": "config.json"}, {"lfs": {"sha256": "../x", "size": 1}}):
            with self.subTest(change):
                hub.edit = lambda reply: good | {"siblings": good["siblings"] + [entry | change]}
                self.refused("list of files that is not usable", "pull", "org/name")
        for sha in ("../../x", "main", None, 7):
            hub.edit = lambda reply: good | {"sha": sha}
            self.refused("sha", "pull", "org/name")
        for reply in ([], "text", {"sha": COMMIT}, {"sha": COMMIT, "siblings": {}}):
            hub.edit = lambda _: reply
            self.refused("org/name", "pull", "org/name")
        self.assertEqual(os.listdir(self.home), [])

    def test_a_disk_that_takes_no_more(self):
        hub = self.hub(org__name=big_repo())

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 * MIB, 1 * MIB))

        process = self.start_pull("org/name", preexec_fn=limit)
        error = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, 3, error)
        self.assertIn("Writing fails: File too large", error)


class Resuming(HubTest):
    def test_a_cut_connection_goes_on_where_it_was(self):
        hub = self.hub(org__name=big_repo())
        hub.faults.append(Fault("store", times=3, cut_after=5 * MIB))
        path = self.pulled("org/name")
        self.assertEqual((path / "model.safetensors").read_bytes(), BIG)
        self.assertEqual(hub.sent("model.safetensors"), len(BIG))

    def test_large_files_come_in_parts_side_by_side(self):
        hub = self.hub(org__name=big_repo())
        hub.pause = 0.0005
        self.pulled("org/name")
        ranges = sorted(r.range for r in hub.requests("store"))
        self.assertEqual(len(ranges), 3)
        self.assertEqual(hub.sent("model.safetensors"), len(BIG))

    def test_a_killed_pull_goes_on_where_it_was(self):
        hub = self.hub(org__name=big_repo())
        hub.pause = 0.002
        process = self.start_pull("org/name")
        self.wait_until(lambda: hub.sent("model.safetensors") > 20 * MIB, "20 MiB are sent")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        partial = [b for b in self.blobs() if b.endswith(".tokamak")]
        self.assertEqual(len(partial), 1)
        self.refused("tokamak pull org/name", "logits", "org/name", "--tokens", "1")
        answer = json.loads(self.run_program("list", "--json").out)
        self.assertFalse(answer[0]["complete"])
        self.assertGreater(answer[0]["partial_bytes"], 10 * MIB)
        counts = (self.repo_folder() / "blobs" / (partial[0] + ".parts")).read_text().split("\n")
        there = sum(map(int, counts[1:-1]))
        self.assertGreater(there, 10 * MIB)
        time.sleep(0.3)  # the server notices
        hub.pause = 0
        hub.log.clear()
        path = self.pulled("org/name")
        # Exactly what was missing: no byte that was on disk is fetched again.
        self.assertEqual(hub.sent("model.safetensors"), len(BIG) - there)
        self.assertEqual((path / "model.safetensors").read_bytes(), BIG)
        self.assertFalse([b for b in self.blobs() if "tokamak" in b])

    def test_an_interrupted_pull_says_that_it_goes_on(self):
        hub = self.hub(org__name=big_repo())
        hub.pause = 0.002
        process = self.start_pull("org/name")
        self.wait_until(lambda: hub.sent("model.safetensors") > 2 * MIB, "2 MiB are sent")
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=20)[1].decode()
        self.assertEqual(process.returncode, 130, error)
        self.assertIn("goes on from here", error)

    def test_a_server_without_ranges(self):
        hub = self.hub(org__name=big_repo())
        hub.faults.append(Fault("store", times=None, no_ranges=True))
        path = self.pulled("org/name")
        self.assertEqual((path / "model.safetensors").read_bytes(), BIG)

    def test_damaged_notes_on_progress_are_not_believed(self):
        repo = big_repo()
        hub = self.hub(org__name=repo)
        blobs = self.repo_folder() / "blobs"
        blobs.mkdir(parents=True)
        blob = blobs / (repo.hash("model.safetensors") + ".tokamak")
        for notes in (b"", b"tokamak-parts 1 ", b"\xff" * 100, b"tokamak-parts 1 %020d %020d\n" % (
                len(BIG), 1), b"tokamak-parts 1 %020d %020d\n%020d\n" % (len(BIG), 1 << 40, 1 << 60)):
            with self.subTest(notes):
                blob.write_bytes(b"x" * 100)
                pathlib.Path(str(blob) + ".parts").write_bytes(notes)
                path = self.pulled("org/name")
                self.assertEqual((path / "model.safetensors").read_bytes(), BIG)
                shutil.rmtree(path)
                (blobs / repo.hash("model.safetensors")).unlink()

    def test_notes_that_lie_end_in_the_hash(self):
        repo = big_repo()
        self.hub(org__name=repo)
        blobs = self.repo_folder() / "blobs"
        blobs.mkdir(parents=True)
        blob = blobs / (repo.hash("model.safetensors") + ".tokamak")
        with open(blob, "wb") as file:
            file.truncate(len(BIG))
        pathlib.Path(str(blob) + ".parts").write_bytes(
            b"tokamak-parts 1 %020d %020d\n%020d\n" % (len(BIG), len(BIG), 1000))
        self.refused(["SHA-256", "deleted"], "pull", "org/name")
        self.assertFalse(blob.exists())
        self.pulled("org/name")

    def test_two_pulls_of_one_model_wait_for_each_other(self):
        hub = self.hub(org__name=big_repo())
        hub.pause = 0.004
        first = self.start_pull("org/name")
        self.wait_until(lambda: hub.sent("model.safetensors") > MIB, "the first has begun")
        second = self.start_pull("org/name")
        error = second.communicate(timeout=120)[1].decode()
        self.assertEqual((first.wait(timeout=60), second.returncode), (0, 0), error)
        first.communicate()
        self.assertIn("another pull of org/name is running", error)
        self.assertEqual(hub.sent("model.safetensors"), len(BIG))


class Progress(HubTest):
    def test_lines_into_a_pipe(self):
        self.hub(org__name=big_repo())
        answer = self.run_program("pull", "org/name")
        self.assertEqual(answer.other[0], "looking up org/name")
        self.assertTrue(any(line.startswith("fetching: ") for line in answer.other), answer.other)
        self.assertLess(len(answer.other), 30)
        self.assertNotIn("\r", "".join(answer.other))

    def test_one_line_on_a_terminal(self):
        hub = self.hub(org__name=big_repo())
        hub.pause = 0.001
        own, other = pty.openpty()
        process = subprocess.Popen([program.PROGRAM, "pull", "org/name"], env=self.env,
                                   stdout=subprocess.PIPE, stderr=other)
        os.close(other)
        seen = b""
        try:
            while piece := os.read(own, 65536):
                seen += piece
        except OSError:  # the other side is closed
            pass
        os.close(own)
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"looking up org/name", seen)
        self.assertRegex(seen, rb"\r\x1b\[Kfetching \d+\.\d+ \w+ of 70\.01 MiB")
        self.assertEqual(seen.count(b"\n"), 1)  # of the last line


class ListAndRemove(HubTest):
    OTHER = "f" * 40

    def two_revisions(self):
        """Two commits that share their weights."""
        repo = tiny_repo()
        hub = self.hub(org__name=repo)
        self.pulled("org/name")
        repo.commit, repo.revisions = self.OTHER, {"v2", self.OTHER}
        repo.files["generation_config.json"] = b'{"other": true}'
        self.pulled("org/name@v2")
        return hub

    def test_list(self):
        answer = self.run_program("list")
        self.assertEqual(answer.status, 0)
        self.assertIn("No models in", answer.out)
        self.two_revisions()
        answer = self.run_program("list")
        self.assertRegex(answer.out, r"org/name +main +01234567 +\S+ \w+ +3 +complete\n")
        models = json.loads(self.run_program("list", "--json").out)
        self.assertEqual([(m["model"], m["revisions"], m["commit"], m["complete"]) for m in models],
                         [("org/name", ["main"], COMMIT, True),
                          ("org/name", ["v2"], self.OTHER, True)])
        self.assertEqual(models[0]["bytes"], sum(
            p.stat().st_size for p in pathlib.Path(models[0]["path"]).iterdir()))

    def test_a_partial_model_is_listed_as_such(self):
        self.hub(org__name=tiny_repo())
        (self.pulled("org/name") / "model.safetensors").unlink()
        answer = self.run_program("list")
        self.assertIn("partial: the weights are missing", answer.out)

    def test_removing_a_revision_keeps_what_others_share(self):
        self.two_revisions()
        answer = self.run_program("rm", "org/name@v2", "--yes")
        self.assertEqual(answer.status, 0, answer)
        self.assertIn("15 B freed; 2 files stay", answer.out)
        self.assertFalse((self.repo_folder() / "refs" / "v2").exists())
        answer = self.run_program("logits", "org/name", "--tokens", "1", *CPU)
        self.assertEqual(answer.status, 0, answer)
        self.assertEqual(len(self.blobs()), 3)

    def test_removing_a_model_removes_all_of_it(self):
        self.two_revisions()
        answer = self.run_program("rm", "org/name", "--yes")
        self.assertEqual(answer.status, 0, answer)
        self.assertIn("removed org/name", answer.out)
        self.assertFalse(self.repo_folder().exists())
        self.refused("tokamak list", "rm", "org/name", "--yes")

    def test_nothing_is_removed_under_a_pull(self):
        hub = self.hub(org__name=big_repo())
        hub.pause = 0.004
        process = self.start_pull("org/name")
        self.wait_until(lambda: hub.sent("model.safetensors") > MIB, "the pull has begun")
        self.refused("org/name is being pulled", "rm", "org/name", "--yes")
        hub.pause = 0
        out, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, error)
        path = pathlib.Path(out.decode().rstrip("\n"))
        self.assertEqual((path / "model.safetensors").read_bytes(), BIG)
        self.assertEqual(self.run_program("rm", "org/name", "--yes").status, 0)
        self.assertFalse(self.repo_folder().exists())
        self.pulled("org/name")

    def test_what_a_stopped_pull_left_is_removed(self):
        hub = self.hub(org__name=big_repo())
        hub.pause = 0.002
        process = self.start_pull("org/name")
        self.wait_until(lambda: hub.sent("model.safetensors") > MIB, "the pull has begun")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertEqual(self.run_program("rm", "org/name", "--yes").status, 0)
        self.assertFalse(self.repo_folder().exists())

    def test_nothing_is_removed_without_a_yes(self):
        self.two_revisions()
        self.refused("--yes", "rm", "org/name", status=2)
        for typed, there in (("n\n", True), ("\n", True), ("y\n", False)):
            own, other = pty.openpty()
            process = subprocess.Popen([program.PROGRAM, "rm", "org/name"], env=self.env, stdin=other,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            os.write(own, typed.encode())
            process.communicate(timeout=60)
            os.close(own)
            os.close(other)
            self.assertEqual(self.repo_folder().exists(), there, typed)


class Inspect(HubTest):
    def test_a_model_is_inspected_without_its_weights(self):
        for name in ("llama_untied", "llama_sharded"):
            with self.subTest(name):
                files = model_files(name)
                large = [f for f in files if f.endswith(".safetensors")]
                hub = self.hub(org__name=Repo(files, large=large))
                for view in ("--summary", "--graph", "--weights"):
                    direct = self.run_program("inspect", model(name), view, *CPU)
                    afar = self.run_program("inspect", "org/name", view, *CPU)
                    self.assertEqual((direct.status, afar.status), (0, 0), afar)
                    expected = direct.out.replace(model(name), "org/name")
                    self.assertEqual(afar.out, expected)
                for file in large:
                    header = 8 + int.from_bytes(files[file][:8], "little")
                    self.assertEqual(hub.sent("/-/" + file), 3 * header)
                self.assertFalse(self.cache.exists())

    def test_the_cache_is_used_when_the_model_is_there(self):
        hub = self.hub(org__name=tiny_repo())
        self.pulled("org/name")
        hub.log.clear()
        answer = self.run_program("inspect", "org/name", *CPU)
        self.assertEqual(answer.status, 0, answer)
        self.assertEqual(hub.log, [])

    def test_headers_that_are_no_headers(self):
        for start in (b"", b"\xff" * 8, b"\xff" * 100, (1 << 40).to_bytes(8, "little") + b"x" * 50,
                      (0).to_bytes(8, "little") + b"{}"):
            with self.subTest(start):
                files = model_files("llama_untied") | {"model.safetensors": start}
                self.hub(org__name=Repo(files, large=["model.safetensors"]))
                self.refused("org/name/model.safetensors", "inspect", "org/name", *CPU)


if __name__ == "__main__":
    program.main(unittest)
