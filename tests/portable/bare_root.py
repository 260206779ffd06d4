"""A root folder with the C library and nothing else, as the smallest system that the portable folder runs on."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

# The libraries of glibc and of what Debian's libc6 depends on.
LIBRARIES = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libresolv.so.2",
             "libnss_files.so.2", "libnss_dns.so.2", "libgcc_s.so.1")
# In the folder's own mount namespace: /proc and two devices are the system's, everything else the folder's.
ENTER = """
mount --rbind /proc "$0/proc" && mount --bind /dev/null "$0/dev/null" && mount --bind /dev/urandom "$0/dev/urandom" &&
exec chroot "$0" "$@"
"""


def output_of(command, variables, *, folder=None, status=0, seconds=300):
    """-> standard output and standard error of a command, which ends with that status (None: any)."""
    command = list(map(str, command))
    done = subprocess.run(command, env=variables, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=seconds, check=False)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{' '.join(command)} ended with {done.returncode}, expected {status}:\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


class BareRoot:
    def __init__(self, machine=os.uname().machine, system=pathlib.Path("/")):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tokamak-root-"))
        libraries = self.folder / "lib" / f"{machine}-linux-gnu"
        libraries.mkdir(parents=True)
        for name in LIBRARIES:
            shutil.copy(system / "lib" / f"{machine}-linux-gnu" / name, libraries)
        interpreter = {"x86_64": "lib64/ld-linux-x86-64.so.2", "aarch64": "lib/ld-linux-aarch64.so.1"}[machine]
        (self.folder / interpreter).parent.mkdir(exist_ok=True)
        shutil.copy(system / interpreter, self.folder / interpreter)
        for name in ("proc", "dev", "tmp", "root", "etc"):
            (self.folder / name).mkdir()
        for name in ("null", "urandom"):
            (self.folder / "dev" / name).touch()
        (self.folder / "etc" / "hosts").write_text("127.0.0.1 localhost\n", encoding="utf-8")

    def command(self, *command):
        """-> the command line that runs a command in there; signals to its process reach the command."""
        as_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        return ["unshare", *as_root, "--mount", "sh", "-c", ENTER, str(self.folder), *map(str, command)]

    def run(self, *command, status=0, **variables):
        """-> standard output and standard error of a command in there, as output_of()."""
        return output_of(self.command(*command), self.environment() | variables, status=status)

    def start(self, *command):
        return subprocess.Popen(self.command(*command), env=self.environment(), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    @staticmethod
    def environment():
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}

    def remove(self):
        shutil.rmtree(self.folder)


def stop(process):
    process.send_signal(signal.SIGTERM)
    return process.wait(20)
