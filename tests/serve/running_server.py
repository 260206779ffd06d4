"""Runs `tokamak serve` for tests, on a port of its own, and asks it over plain sockets."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import tiny_model  # noqa: E402
from program import PROGRAM, main  # noqa: E402, F401

MODEL = "tiny"
PROMPT = "Once upon a time"
# The backend of servers whose answers must last while a test looks at them, or must be the same beside any others.
SLOW = "cpu-reference"


def wait_until(test, seconds=20, what="it"):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := test():
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} has not come within {seconds} seconds")


class Server:
    """The tiny model on the processor, or the built-in one. `wait`: until it listens. `stderr`: a descriptor in place of a
    file; `environment`: variables that it has besides."""

    def __init__(self, *arguments, wait=True, port=0, is_tiny=True, backend="cpu", stderr=None,
                 environment=None):
        self.log = tempfile.TemporaryFile()
        self.out = tempfile.TemporaryFile()
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, MODEL)
        os.mkdir(path)
        tiny_model.write(path)
        self.process = subprocess.Popen(
            [PROGRAM, "serve", *([path] if is_tiny else []), "--backend", backend, "--port", str(port),
             *map(str, arguments)],
            stdout=self.out, stderr=stderr or self.log, env=os.environ | (environment or {}))
        self.port = port
        if wait:
            self.port = wait_until(self._listening, 60, "the server")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def _listening(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the server has ended: {self.errors()}")
        self.out.seek(0)
        found = re.search(rb"Listening on https?://\S+:(\d+)\n", self.out.read())
        return found and int(found[1])

    def errors(self):
        self.log.seek(0)
        return self.log.read().decode()

    def wait_logged(self, text, times=1):
        """-> what the log has once that text is in it."""
        return wait_until(lambda: self.errors().count(text) >= times and self.errors(), what=f"{text!r} in the log")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()
        self.out.close()
        self.folder.cleanup()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)

    def connect(self):
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        return sock

    def ask(self, method, path, body=None, headers=None):
        """-> status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            if isinstance(body, (dict, list)):
                body = json.dumps(body)
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get(self, path, headers=None):
        return self.ask("GET", path, headers=headers)

    def complete(self, headers=None, **fields):
        """-> the parsed answer of a completion."""
        status, _, body = self.ask("POST", "/v1/completions", completion(**fields), headers)
        if status != 200:
            raise AssertionError(f"{status}: {body!r}")
        return json.loads(body)

    def metric(self, name, labels=""):
        """The sum of a metric's samples whose labels hold that text."""
        text = self.get("/metrics")[2].decode()
        lines = re.findall(rf"^tokamak:{name}{{([^}}]*)}} (\S+)$", text, re.MULTILINE)
        return sum(float(value) for own, value in lines if labels in own)

    def wait_idle(self):
        wait_until(lambda: self.metric("num_requests_running") == 0
                   and self.metric("num_requests_waiting") == 0, what="an idle server")


def resident_kb(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def completion(**fields):
    return {"prompt": PROMPT, "max_tokens": 8, "temperature": 0} | fields


def request_bytes(method="POST", path="/v1/completions", fields=(), body=b"", **more):
    """A request as it goes over the wire; `more`: of a completion."""
    if more or (method == "POST" and not body):
        body = json.dumps(completion(**more)).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *fields]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


class Reader:
    """Reads answers off a socket, one after the other."""

    def __init__(self, sock):
        self.file = sock.makefile("rb")

    def head(self):
        """-> status, {name: value}; None at the end."""
        line = self.file.readline()
        if not line:
            return None
        fields = {}
        while (field := self.file.readline()) not in (b"\r\n", b""):
            name, _, value = field.decode().partition(":")
            fields[name.lower()] = value.strip()
        return int(line.split()[1]), fields

    def chunk(self):
        """The next chunk of a body; b"" at its end."""
        size = int(self.file.readline(), 16)
        data = self.file.read(size)
        self.file.readline()
        return data

    def answer(self):
        """-> status, fields, body; None at the end."""
        head = self.head()
        if head is None:
            return None
        status, fields = head
        if fields.get("transfer-encoding") == "chunked":
            body = b"".join(iter(self.chunk, b""))
        else:
            body = self.file.read(int(fields.get("content-length", 0)))
        return status, fields, body

    def is_at_end(self):
        return self.file.read(1) == b""


def events(body):
    """The data of the events of a stream."""
    parts = body.decode().split("\n\n")
    return [part[6:] for part in parts if part.startswith("data: ")]


def text_of(stream):
    """What a stream of a completion says."""
    data = events(stream)
    if data[-1] != "[DONE]":
        raise AssertionError(f"the stream ends with {data[-1]}")
    return "".join(json.loads(one)["choices"][0]["text"] for one in data[:-1]
                   if json.loads(one)["choices"])
