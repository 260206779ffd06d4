#!/usr/bin/env python3
"""serve.py FOLDER [--port N] [--also /PATH/=FOLDER]: gives the files of a folder out on this machine alone.

Ends with Ctrl-C. Parts of files are given as well (Range), since models are read in pieces, and nothing is kept by
the browser without asking again.
"""
import argparse
import errno
import http.server
import pathlib
import re
import sys
import urllib.parse

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".json": "application/json",
         ".wasm": "application/wasm", ".svg": "image/svg+xml", ".webmanifest": "application/manifest+json"}
PIECE = 1 << 20


def part_of(asked, size):
    """The first and last byte of a Range header; None: all of the file; (size, size): there is no such part."""
    found = re.fullmatch(r"bytes=(\d*)-(\d*)", asked)
    if not found or not any(found.groups()):
        return None
    first, last = found.groups()
    if not first:  # the last bytes
        return (max(0, size - int(last)), size - 1) if int(last) and size else (size, size)
    if int(first) >= size:
        return size, size
    end = min(int(last), size - 1) if last else size - 1
    return (int(first), end) if end >= int(first) else None


class Files(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    places = []  # (start of the path, folder), longest start first

    def file(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        for start, folder in self.places:
            if not path.startswith(start):
                continue
            try:
                place = (folder / path[len(start):]).resolve()
                if place.is_dir():
                    place /= "index.html"
                if place.is_relative_to(folder) and place.is_file():
                    return place
            except (OSError, ValueError):  # a name that no file can have
                return None
        return None

    def do_GET(self):
        place = self.file()
        if place is None:
            self.send_error(404)
            return
        with place.open("rb") as file:
            size = place.stat().st_size
            part = part_of(self.headers.get("Range", ""), size)
            first, last = part or (0, size - 1)
            if part and first == size:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{size}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206 if part else 200)
            if part:
                self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Type", TYPES.get(place.suffix, "application/octet-stream"))
            self.send_header("Content-Length", str(last - first + 1))
            self.send_header("Cache-Control", "no-cache")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            if self.command == "HEAD":
                return
            file.seek(first)
            left = last - first + 1
            while left > 0 and (piece := file.read(min(PIECE, left))):
                self.wfile.write(piece)
                left -= len(piece)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        # A tab that is closed takes its connection along.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=8017, help="8017 unless given; 0: one that is free")
    parser.add_argument("--also", action="append", default=[], metavar="/PATH/=FOLDER")
    chosen = parser.parse_args()
    also = [pair.partition("=") for pair in chosen.also]
    places = [("/", chosen.folder.resolve())] + [(start, pathlib.Path(folder).resolve()) for start, _, folder in also]
    Files.places = sorted(places, key=lambda place: -len(place[0]))
    try:
        server = Server(("127.0.0.1", chosen.port), Files)
    except OverflowError:
        sys.exit(f"error: {chosen.port} is no port; there are 1 to 65535.")
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            sys.exit(f"error: Port {chosen.port} is taken; --port N chooses another one.")
        if error.errno == errno.EACCES:
            sys.exit(f"error: Port {chosen.port} is not allowed; --port N chooses another one, from 1024.")
        raise
    print(f"http://127.0.0.1:{server.server_port}/ has the site; Ctrl-C ends this.", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
