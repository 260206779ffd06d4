"""What a Mac's user runs first (packaging/macos/first_run.sh), on this system: its verdicts are right where all works and where not.

TOKAMAK_PROGRAM is the program, TOKAMAK_SOURCE_DIR has the sources.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["TOKAMAK_PROGRAM"]).resolve()
SCRIPT = pathlib.Path(os.environ["TOKAMAK_SOURCE_DIR"]).resolve() / "packaging" / "macos" / "first_run.sh"
# A software driver would compile every kernel first.
NO_DRIVER = {"VK_DRIVER_FILES": "/nowhere.json", "VK_ICD_FILENAMES": "/nowhere.json"}


@unittest.skipUnless(shutil.which("curl"), "curl is not installed")
class FirstRun(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name, "a folder")
        (self.folder / "bin").mkdir(parents=True)
        shutil.copy(SCRIPT, self.folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.variables = os.environ | NO_DRIVER | {"TOKAMAK_FIRST_RUN_GPU": "", "TOKAMAK_FIRST_RUN_PORT": str(port)}

    def run_script(self):
        done = subprocess.run(["sh", str(self.folder / "first_run.sh")], env=self.variables, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=600)
        verdicts = dict(reversed(line.split(None, 1)) for line in done.stdout.splitlines() if line.startswith(("ok", "FAILED")))
        return done, verdicts

    def test_everything_works_here(self):
        (self.folder / "bin" / "tokamak").symlink_to(PROGRAM)
        done, verdicts = self.run_script()
        log = (self.folder / "first-run" / "first_run.txt").read_text(encoding="utf-8")
        self.assertEqual(done.returncode, 0, log)
        self.assertEqual(verdicts, dict.fromkeys(
            ["it starts", "devices", "story by cpu-reference", "story by cpu", "it serves"], "ok"))
        report = json.loads((self.folder / "first-run" / "doctor.json").read_text(encoding="utf-8"))
        self.assertIn("system", report)

    def test_another_story_is_a_failure(self):
        program = self.folder / "bin" / "tokamak"
        program.write_text('#!/bin/sh\ncase $1 in run) echo "Once upon a time, there was another story" ;; serve) exit 1 ;; esac\n')
        program.chmod(0o755)
        curl = self.folder / "curl"  # waits for no server
        curl.write_text("#!/bin/sh\n")
        curl.chmod(0o755)
        self.variables["PATH"] = f"{self.folder}:{self.variables['PATH']}"
        done, verdicts = self.run_script()
        self.assertEqual(done.returncode, 1)
        self.assertEqual({name: verdict for name, verdict in verdicts.items() if verdict == "FAILED"},
                         {"story by cpu-reference (status 1)": "FAILED", "story by cpu (status 1)": "FAILED", "it serves (status 1)": "FAILED"})


if __name__ == "__main__":
    unittest.main()
