"""What tools/mutate and tools/mutate_translator share: a copy of the tree, built for tests, in which
texts are changed one at a time."""
import os
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(command, cwd, timeout, environment=None):
    """(exit status, output) of a command; -1 when it takes longer."""
    try:
        done = subprocess.run(command, cwd=cwd, timeout=timeout, capture_output=True, text=True,
                              env={**os.environ, **(environment or {})})
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return -1, "timeout"


class Copy:
    """`with Copy() as copy`: the tree without its builds, configured, in a temporary folder."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tokamak-mutate-"))
        self.tree = self.folder / "tree"
        # The build is where ccache has it: paths to the sources are relative.
        self.build = self.tree / "build" / "release"
        try:
            self._configure()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def _configure(self):
        shutil.copytree(ROOT, self.tree,
                        ignore=shutil.ignore_patterns("build", ".git", "node_modules"))
        # The place of the tree does not matter to ccache.
        self.environment = {"CCACHE_BASEDIR": str(self.tree), "CCACHE_NOHASHDIR": "1",
                            "GTEST_FAIL_FAST": "1"}
        configure = ["cmake", "--preset", "release", "-DTOKAMAK_APPS=OFF"]
        if shutil.which("ccache"):
            configure += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
        code, output = run(configure, self.tree, 600)
        if code != 0:
            raise SystemExit(output[-2000:])

    def make(self, targets):
        """Whether they compile, and what the compiler says."""
        code, output = run(["cmake", "--build", str(self.build), "--target", *targets],
                           self.folder, 3600, self.environment)
        return code == 0, output

    def run(self, command, timeout=900, environment=None, cwd=None):
        """Whether it succeeds, and its output."""
        code, output = run(command, cwd or self.tree, timeout,
                           {**self.environment, **(environment or {})})
        return code == 0, output
