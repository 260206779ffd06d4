"""The packages that ./dev package made, on systems with nothing but the C library.

./dev check package runs it: TOKAMAK_PACKAGES is their folder, TOKAMAK_SOURCE_DIR the sources; TOKAMAK_PROGRAM is
named for the tests whose helpers it takes.
"""

import http.server
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

from bare_root import BareRoot, output_of, stop

PACKAGES = pathlib.Path(os.environ["TOKAMAK_PACKAGES"])
SOURCE = pathlib.Path(os.environ["TOKAMAK_SOURCE_DIR"])
sys.path.append(str(SOURCE / "tests" / "cli"))
import transcribe_test  # noqa: E402  pylint: disable=wrong-import-position
ARGUMENTS = ("--greedy", "-n", "12", "-p", "Once upon a time")
STORY = "Once upon a time, there lived a king who had three sons,"
OPT = "/opt/a folder"
ARM64 = "*-linux-aarch64.tar.xz"


def package(pattern):
    found = sorted(PACKAGES.glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"{PACKAGES} has {len(found)} of {pattern}, expected 1: run ./dev package")
    return found[0]


def unpack(pattern, folder):
    subprocess.run(["tar", "xf", package(pattern), "--strip-components=1", "-C", folder], check=True)


class NothingFound(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # pylint: disable=invalid-name
        self.send_error(404)

    def log_message(self, *_arguments):  # pylint: disable=arguments-differ
        pass


class Folder(unittest.TestCase):
    """The archive, unpacked in a bare root into a folder whose name has a space."""

    @classmethod
    def setUpClass(cls):
        cls.root = BareRoot()
        cls.place = cls.root.folder / OPT[1:]
        cls.place.mkdir(parents=True)
        unpack("*-linux-x86_64.tar.xz", cls.place)
        cls.program = f"{OPT}/bin/tokamak"

    @classmethod
    def tearDownClass(cls):
        cls.root.remove()

    def test_tells_the_story_without_a_word_of_complaint(self):
        out, err = self.root.run(self.program, "run", *ARGUMENTS)
        self.assertTrue(out.startswith(STORY), out)
        self.assertNotIn("version", err)
        self.assertNotIn("error", err)

    def test_a_link_to_the_program_is_the_program(self):
        (self.root.folder / "bin").mkdir(exist_ok=True)
        (self.root.folder / "bin" / "tokamak").symlink_to(self.program)
        out, _ = self.root.run("/bin/tokamak", "run", "--backend", "cpu", *ARGUMENTS)
        self.assertTrue(out.startswith(STORY), out)

    def test_doctor_names_what_a_bare_system_lacks(self):
        out, _ = self.root.run(self.program, "doctor")
        self.assertIn("libcuda.so.1 is not there", out)
        self.assertIn("cpu: ", out)
        self.assertNotIn("Dawn cannot be opened", out)  # its library of C++ came along

    def test_serves(self):
        process = self.root.start(self.program, "serve", "--port", "0", "--backend", "cpu")
        try:
            for line in process.stdout:
                if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                    break
            else:
                self.fail("The server ended before it listened.")
            request = urllib.request.Request(
                f"http://127.0.0.1:{found[1]}/v1/completions",
                json.dumps({"prompt": "Once upon a time", "max_tokens": 12, "temperature": 0}).encode(),
                {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = json.load(answer)["choices"][0]["text"]
            self.assertTrue(("Once upon a time" + text).startswith(STORY), text)
        finally:
            status = stop(process)
            process.stdout.close()
        self.assertEqual(status, 0)

    def test_reads_recordings_of_each_kind(self):
        model = transcribe_test.make_model("moonshine", 512)
        shutil.move(model, self.root.folder / "moonshine")
        for file in ("s16.flac", "layer3.mp3", "vorbis.ogg", "opus.opus"):
            with self.subTest(file):
                shutil.copy(SOURCE / "tests" / "data" / "audio" / file, self.root.folder)
                out, _ = self.root.run(self.program, "transcribe", "/moonshine", f"/{file}", "--backend", "cpu")
                self.assertRegex(out, transcribe_test.WORDS)

    def test_trusts_the_certificates_of_the_system(self):
        """A server with a certificate of its own is trusted where the system's bundle has it, and nowhere else."""
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-addext",
                            "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
                           check=True, stderr=subprocess.DEVNULL)
            server = http.server.HTTPServer(("127.0.0.1", 0), NothingFound)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                def pull():
                    return self.root.run(self.program, "pull", "org/name", status=None,
                                         HF_ENDPOINT=f"https://localhost:{server.server_port}")[1]
                self.assertIn("certificate", pull())
                bundle = self.root.folder / "etc" / "pki" / "tls" / "certs" / "ca-bundle.crt"  # Fedora's
                bundle.parent.mkdir(parents=True)
                shutil.copy(certificate, bundle)
                self.assertRegex(pull(), "org/name.* 404|no model org/name")
            finally:
                server.shutdown()
                server.server_close()

    def test_holds_its_licences(self):
        docs = self.place / "share" / "doc" / "tokamak"
        for line in (docs / "versions.txt").read_text(encoding="utf-8").splitlines():
            name = re.match(r".*\S  +(\S+) \S+$", line)[1]
            if name != "dawn":
                self.assertGreater((docs / "licenses" / f"{name}.txt").stat().st_size, 100, line)
        bill = json.loads((docs / "sbom.spdx.json").read_text(encoding="utf-8"))
        names = {one["name"] for one in bill["packages"]}
        self.assertTrue({"tokamak", "dawn", "curl", "libssl3", "gcc-12"} <= names, names)
        ids = {one["SPDXID"] for one in bill["packages"]} | {"SPDXRef-DOCUMENT"}
        for relation in bill["relationships"]:
            self.assertTrue({relation["spdxElementId"], relation["relatedSpdxElement"]} <= ids, relation)
        self.assertIn("Copyright", (docs / "dawn-LICENSE.md").read_text(encoding="utf-8"))


class OnThisSystem(unittest.TestCase):
    """The folder beside drivers: this system's Vulkan and an emulated CUDA."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        unpack("*-linux-x86_64.tar.xz", cls.folder.name)
        cls.program = os.path.join(cls.folder.name, "bin", "tokamak")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_with(self, *command, **variables):
        return output_of([self.program, *command], os.environ | variables)[0]

    def test_vulkan(self):
        self.assertTrue(self.run_with("run", "--backend", "webgpu", *ARGUMENTS).startswith(STORY))

    def test_an_old_library_of_cpp_gives_way_to_the_one_inside(self):
        """Dawn needs GCC 12's; a system with an older one is played by an empty library of that name."""
        with tempfile.TemporaryDirectory() as old:
            subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-Wl,-soname,libstdc++.so.6", "-o",
                            os.path.join(old, "libstdc++.so.6")], check=True)
            path = old + ":" + os.environ.get("LD_LIBRARY_PATH", "")
            out = self.run_with("doctor", "--json", LD_LIBRARY_PATH=path)
            self.assertNotIn("cannot be opened", out)
            self.assertTrue(self.run_with("run", "--backend", "webgpu", *ARGUMENTS, LD_LIBRARY_PATH=path).startswith(STORY))
            os.remove(os.path.join(self.folder.name, "lib/tokamak/fallback/libstdc++.so.6"))
            self.assertIn("Dawn cannot be opened", self.run_with("doctor", LD_LIBRARY_PATH=path))

    def test_cuda(self):
        emulator = SOURCE / "build" / "release" / "emulator"
        if not (emulator / "libcuda.so.1").exists():
            self.skipTest("The emulated CUDA is not built (./dev build).")
        out = self.run_with("run", "--backend", "cuda", *ARGUMENTS, LD_LIBRARY_PATH=str(emulator))
        self.assertTrue(out.startswith(STORY), out)


class Arm64(unittest.TestCase):
    """The archive for arm64, by qemu and with that system's C library alone; where it was made."""

    def test_tells_the_story(self):
        sysroot = pathlib.Path(os.environ.get("TOKAMAK_CACHE_DIR", "")) / "sysroot-arm64"
        qemu = shutil.which("qemu-aarch64-static")
        if not list(PACKAGES.glob(ARM64)) or not sysroot.is_dir() or qemu is None:
            self.skipTest("There is no archive for arm64 (./dev package linux-aarch64).")
        root = BareRoot("aarch64", sysroot)
        try:
            unpack(ARM64, root.folder)
            program = [qemu, "-L", root.folder, root.folder / "bin" / "tokamak"]
            for command, expected in ((("run", "--backend", "cpu", *ARGUMENTS), STORY), (("doctor",), "cpu: ")):
                with self.subTest(command):
                    out, _ = output_of([*program, *command], BareRoot.environment(), seconds=600)
                    self.assertIn(expected, out)
                    self.assertNotIn("Dawn cannot be opened", out)
        finally:
            root.remove()


class Wheel(unittest.TestCase):
    def test_tells_the_story_in_an_empty_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            python = os.path.join(folder, "bin", "python")
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check",
                            package("*_x86_64.whl")], check=True)
            variables = {"PATH": "/usr/bin:/bin", "HOME": folder}
            code = ("import ssl, zlib, tokamak\n"  # which load other builds of what we bring
                    "with tokamak.open(backend='cpu') as model:\n"
                    "    print(model.generate('Once upon a time', temperature=0, max_tokens=12).text)")
            for command in ([python, "-c", code], [os.path.join(folder, "bin", "tokamak"), "run", *ARGUMENTS],
                            [python, "-m", "tokamak", "run", *ARGUMENTS]):
                out, _ = output_of(command, variables, folder="/")
                self.assertIn(STORY.removeprefix("Once upon a time"), out)


class Node(unittest.TestCase):
    def test_tells_the_story_from_the_two_packages(self):
        node = shutil.which("node")
        with tempfile.TemporaryDirectory() as folder:
            variables = {"PATH": os.environ["PATH"], "HOME": folder}
            subprocess.run(["npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", package("tokamak-node-linux-x64-*.tgz"),
                            package("tokamak-node-0*.tgz")], cwd=folder, env=variables, check=True, timeout=120)
            code = ("import { open } from 'tokamak-node';\n"
                    "const model = await open('', { backend: 'cpu' });\n"
                    "console.log(await model.generate('Once upon a time', { temperature: 0, maxTokens: 12 }).text());")
            for command in ([node, "--input-type=module", "-e", code],
                            [os.path.join(folder, "node_modules", ".bin", "tokamak"), "run", *ARGUMENTS]):
                out, _ = output_of(command, variables, folder=folder)
                self.assertIn(STORY.removeprefix("Once upon a time"), out)


class Deb(unittest.TestCase):
    def test_installs_into_a_bare_root_and_leaves_nothing(self):
        root = BareRoot()
        try:
            database = root.folder / "var" / "lib" / "dpkg"
            for name in ("info", "updates", "triggers"):
                (database / name).mkdir(parents=True)
            (database / "status").touch()
            dpkg = ["dpkg", f"--root={root.folder}", "--force-depends", "--force-not-root", "--no-triggers", "--log=/dev/null"]
            subprocess.run([*dpkg, "--install", package("*_amd64.deb")], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            out, _ = root.run("/usr/bin/tokamak", "run", *ARGUMENTS)
            self.assertTrue(out.startswith(STORY), out)
            subprocess.run([*dpkg, "--purge", "tokamak"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.assertEqual([str(path) for path in root.folder.rglob("*tokamak*") if "root" not in path.parts[3:]], [])
        finally:
            root.remove()


class Sums(unittest.TestCase):
    def test_are_those_of_the_files(self):
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=PACKAGES, check=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
