"""Attacks of hostile clients on a server, and their effect on a client that behaves well."""
import contextlib
import json
import os
import socket
import statistics
import threading
import time

from running_server import completion, request_bytes, resident_kb

CHUNKED = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def open_socket(port, seconds=0.0):
    sock = socket.create_connection(("127.0.0.1", port), timeout=10)
    sock.settimeout(seconds)
    return sock


def push(sock, data):
    """Sends as much of it as the server takes now; False where it has closed the connection."""
    try:
        sock.send(data)
    except BlockingIOError:
        time.sleep(0.001)
    except OSError:
        return False
    return True


def flood(port, stop, data, begin=b"", count=4):
    """Sends `data` again and again on some connections, and never reads."""
    socks = []
    with contextlib.ExitStack() as stack:
        while not stop.is_set():
            while len(socks) < count:
                sock = stack.enter_context(open_socket(port))
                push(sock, begin)
                socks.append(sock)
            socks = [sock for sock in socks if push(sock, data)]


def unread_answers(port, stop):
    flood(port, stop, request_bytes("GET", "/", ["Accept: text/html"]) * 500)


def line_ends(port, stop):
    flood(port, stop, b"\r\n" * 32768)


def one_byte_chunks(port, stop):
    flood(port, stop, b"1\r\nx\r\n" * 10000, CHUNKED)


def large_bodies(port, stop, count=40):
    """Bodies of which all comes but the last byte."""
    size = 30 << 20
    head = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (size + 1)
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            sock = stack.enter_context(open_socket(port, 5))
            with contextlib.suppress(OSError):
                sock.sendall(head)
                for _ in range(30):
                    sock.sendall(b" " * (1 << 20))
            if stop.is_set():
                return
        stop.wait()


def half_open(port, stop, count=10000):
    """Connections of which half have begun a request."""
    with contextlib.ExitStack() as stack:
        for number in range(count):
            if stop.is_set():
                return
            with contextlib.suppress(OSError):
                sock = stack.enter_context(open_socket(port))
                if number % 2:
                    push(sock, b"GET / HTTP/1.1\r\n")
        stop.wait()


def tenants(port, stop):
    """Prompts of which each has a cache of its own."""
    number = 0
    while not stop.is_set():
        with open_socket(port, 60) as sock, contextlib.suppress(OSError):
            for _ in range(50):
                number += 1
                sock.sendall(request_bytes(max_tokens=1, cache_salt=f"salt {number}"))
            answers = b""
            while answers.count(b'"usage"') < 50 and not stop.is_set():
                part = sock.recv(1 << 16)
                if not part:
                    break
                answers += part


ATTACKS = {"nothing": None, "unread answers": unread_answers, "line ends": line_ends,
           "chunks of one byte": one_byte_chunks, "large bodies": large_bodies, "10,000 connections": half_open,
           "tenants": tenants}


def threads_of(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def quantile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


class Seen:
    """The times and failures of a client that asks for a token again and again, and what the process took."""

    def __init__(self):
        self.seconds, self.failures, self.kilobytes, self.threads = [], [], [], []

    def ask(self, server):
        begin = time.monotonic()
        try:
            status, _, body = server.ask("POST", "/v1/completions", completion(max_tokens=1))
            if status != 200:
                self.failures.append(json.loads(body))
        except OSError as error:
            self.failures.append(str(error))
        self.seconds.append(time.monotonic() - begin)
        self.kilobytes.append(resident_kb(server.process.pid))
        self.threads.append(threads_of(server.process.pid))

    def row(self, name):
        return (f"| {name} | {max(self.kilobytes) / 1024:.0f} | {statistics.median(self.seconds) * 1e3:.0f} "
                f"| {quantile(self.seconds, 0.99) * 1e3:.0f} | {max(self.threads)} | {len(self.failures)} of {len(self.seconds)} |")


HEADER = ("| attack | memory, MiB | median, ms | 99 %, ms | threads | without an answer |\n"
          "| --- | --- | --- | --- | --- | --- |")


def watch(server, attack, seconds):
    """Runs an attack for that long beside a client that behaves well."""
    seen, stop = Seen(), threading.Event()
    thread = threading.Thread(target=attack, args=(server.port, stop)) if attack else None
    if thread:
        thread.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end or not seen.seconds:
        seen.ask(server)
        time.sleep(0.005)
    stop.set()
    if thread:
        thread.join()
    return seen
