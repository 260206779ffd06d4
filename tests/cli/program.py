"""Runs the built program for the tests: one call, one answer, never longer than it may take."""
import fcntl
import os
import pty
import resource
import struct
import subprocess
import sys
import termios

PROGRAM = os.environ.get("TOKAMAK_PROGRAM", "")
SOURCE = os.environ.get("TOKAMAK_SOURCE_DIR", "")
DATA = os.path.join(SOURCE, "tests", "data")


class Answer:
    def __init__(self, status, out, err):
        self.status = status
        self.out = out.decode("utf-8", "replace")
        own = [line for line in err.decode("utf-8", "replace").splitlines() if line]
        self.errors = [line for line in own if line.startswith("error: ")]
        self.notes = [line for line in own if line.startswith("note: ")]
        self.other = [line for line in own if not line.startswith(("error: ", "note: "))]

    def __repr__(self):
        return f"status {self.status}, {self.errors + self.notes + self.other}, {self.out[:300]!r}"


def environment(**changes):
    """The test's own environment with changes; None removes a variable."""
    env = dict(os.environ)
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def limit_memory(size):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def tokamak(*arguments, text="", timeout=60, env=None, memory=None):
    """-> Answer; subprocess.TimeoutExpired when it hangs."""
    process = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True,
        timeout=timeout,
        env=env,
        preexec_fn=limit_memory(memory) if memory else None,
    )
    return Answer(process.returncode, process.stdout, process.stderr)


def on_terminal(*arguments, typed=b"", env=None, columns=0):
    """-> all that a person at a terminal sees, and the exit status. `columns`: its width; 0: not known."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24 if columns else 0, columns, 0, 0))
    process = subprocess.Popen([PROGRAM, *arguments], stdin=terminal, stdout=terminal,
                               stderr=terminal, env=env, start_new_session=True)
    os.close(terminal)
    os.write(main, typed)
    seen = b""
    try:
        while piece := os.read(main, 4096):
            seen += piece
    except OSError:  # the other end is closed
        pass
    os.close(main)
    return seen.decode("utf-8", "replace"), process.wait(timeout=60)


def model(name):
    return os.path.join(DATA, "models", name)


def main(unittest):
    if not os.access(PROGRAM, os.X_OK) or not os.path.isdir(DATA):
        sys.exit("error: TOKAMAK_PROGRAM names the built program, TOKAMAK_SOURCE_DIR its sources")
    unittest.main(verbosity=2)
