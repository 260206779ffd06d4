"""A hub on this machine for tests: the addresses, headers and redirects of huggingface.co, and its ways
to fail. Two ports: the hub itself and the store that large files are redirected to, which must never
see the token.

Every request is kept in `log`, with the bytes that were sent for it.
"""
import hashlib
import http.server
import json
import re
import socket
import threading
import time
import urllib.parse

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git_sha1(contents):
    return hashlib.sha1(b"blob %d\0" % len(contents) + contents).hexdigest()


class Repo:
    """Files of one repository; those in `large` are stored as LFS files."""

    def __init__(self, files, large=(), commit=COMMIT, revisions=("main",)):
        self.files = files
        self.large = set(large)
        self.commit = commit
        self.revisions = set(revisions) | {commit}
        self.gated = False

    def hash(self, path):
        contents = self.files[path]
        return hashlib.sha256(contents).hexdigest() if path in self.large else git_sha1(contents)

    def reply(self):
        siblings = []
        for path, contents in self.files.items():
            entry = {"rfilename": path, "size": len(contents), "blobId": git_sha1(contents)}
            if path in self.large:
                entry["lfs"] = {"sha256": self.hash(path), "size": len(contents), "pointerSize": 134}
            siblings.append(entry)
        return {"id": "org/name", "sha": self.commit, "gated": self.gated, "siblings": siblings}


class Request:
    def __init__(self, handler):
        self.port = handler.server.server_address[1]
        self.path = handler.path
        self.range = handler.headers.get("Range")
        self.authorization = handler.headers.get("Authorization")
        self.status = 0
        self.sent = 0

    def __repr__(self):
        return f"{self.path} {self.range} -> {self.status}, {self.sent} bytes"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        hub = self.server.hub
        self.request_seen = Request(self)
        with hub.lock:
            hub.log.append(self.request_seen)
            fault = next((f for f in hub.faults if f.matches(self)), None)
            if fault and fault.times is not None:
                fault.times -= 1
                if fault.times == 0:
                    hub.faults.remove(fault)
        try:
            if not (fault and fault.answer(self)):
                self.serve(fault)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def reply(self, status, body=b"", **headers):
        self.request_seen.status = status
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.request_seen.sent += len(body)

    def missing(self, code, status=404):
        self.reply(status, b'{"error": "no"}', X_Error_Code=code)

    def serve(self, fault):
        hub = self.server.hub
        path = urllib.parse.urlsplit(self.path).path
        if self.server is hub.store:
            name, _, file = path[len("/store/"):].partition("/-/")
            return self.contents(hub.repos[name].files[urllib.parse.unquote(file)], fault)
        match = re.fullmatch(r"/api/models/([^/]+/[^/]+)/revision/([^/]+)", path)
        if match:
            repo = self.repo(match[1], match[2])
            return repo and self.contents(json.dumps(hub.edit(repo.reply())).encode(), fault)
        match = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        if not match:
            return self.missing("EntryNotFound")
        repo = self.repo(match[1], match[2])
        file = urllib.parse.unquote(match[3])
        if repo is None:
            return None
        if file not in repo.files:
            return self.missing("EntryNotFound")
        if file not in repo.large:
            return self.contents(repo.files[file], fault)
        place = f"http://localhost:{hub.store.server_address[1]}/store/{match[1]}/-/{match[3]}"
        return self.reply(302, Location=place, X_Repo_Commit=repo.commit,
                          X_Linked_Etag=f'"{repo.hash(file)}"', X_Linked_Size=len(repo.files[file]))

    def repo(self, name, revision):
        repo = self.server.hub.repos.get(name)
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if repo is None:  # as the hub does: who is not logged in does not learn what exists
            self.missing("RepoNotFound", 404 if token else 401)
        elif repo.gated and token != repo.gated:
            self.missing("GatedRepo", 403 if token else 401)
            return None
        elif urllib.parse.unquote(revision) not in repo.revisions:
            self.missing("RevisionNotFound")
            return None
        return repo

    def contents(self, body, fault):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        total = len(body)
        first, status = 0, 200
        if wanted and not (fault and fault.no_ranges):
            first = int(wanted[1])
            last = min(int(wanted[2] or total - 1), total - 1)
            if first >= total:
                return self.reply(416, Content_Range=f"bytes */{total}")
            body, status = body[first:last + 1], 206
        self.request_seen.status = status
        self.send_response(status)
        if status == 206:
            self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{total}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        limit = len(body) if not fault or fault.cut_after is None else fault.cut_after
        pause = self.server.hub.pause
        for at in range(0, min(limit, len(body)), 65536):
            chunk = body[at:min(at + 65536, limit)]
            self.wfile.write(chunk)
            self.request_seen.sent += len(chunk)
            if pause:
                time.sleep(pause)
        if limit < len(body):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        return None


class Fault:
    """What goes wrong with requests whose path contains `path`, `times` times (None: always)."""

    def __init__(self, path, times=1, status=None, headers=None, cut_after=None, no_ranges=False,
                 location=None):
        self.path, self.times, self.status = path, times, status
        self.headers = headers or {}
        self.cut_after, self.no_ranges, self.location = cut_after, no_ranges, location

    def matches(self, handler):
        return self.path in urllib.parse.unquote(handler.path)

    def answer(self, handler):
        if self.location:
            handler.reply(302, Location=self.location)
        elif self.status:
            handler.reply(self.status, b"sorry", **self.headers)
        else:
            return False
        return True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


class Hub:
    def __init__(self, **repos):
        self.repos = {name.replace("__", "/"): repo for name, repo in repos.items()}
        self.log, self.faults = [], []
        self.edit = lambda reply: reply
        self.pause = 0  # seconds between pieces of a file
        self.lock = threading.Lock()
        self.hub, self.store = (Server(("127.0.0.1", 0), Handler) for _ in range(2))
        for server in (self.hub, self.store):
            server.hub = self
            threading.Thread(target=server.serve_forever, daemon=True).start()
        self.endpoint = f"http://127.0.0.1:{self.hub.server_address[1]}"

    def close(self):
        for server in (self.hub, self.store):
            server.shutdown()
            server.server_close()

    def sent(self, path):
        """Bytes of a file that left the server, over all requests."""
        with self.lock:
            return sum(r.sent for r in self.log
                       if path in urllib.parse.unquote(r.path) and r.status in (200, 206))

    def requests(self, path=""):
        with self.lock:
            return [r for r in self.log if path in urllib.parse.unquote(r.path)]
