#!/usr/bin/env python3
"""Whether the files in packaging/ are true: options, libraries, and proxies where they are installed. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/packaging_test.py
"""
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import tempfile
import time
import unittest

from operations_test import free_port
from program import SOURCE
from running_server import PROGRAM, PROMPT, Server, events, main, wait_until

PACKAGING = os.path.join(SOURCE, "packaging")


def text_of(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


class Proxy:
    """A configuration of packaging/ with addresses of this test, run until the end of the block."""

    def __init__(self, name, command, changes):
        self.folder = tempfile.TemporaryDirectory()
        text = text_of("packaging", name)
        for before, after in changes(self.folder.name).items():
            if before not in text:
                raise AssertionError(f"packaging/{name} has no {before!r}")
            text = text.replace(before, after)
        self.path = os.path.join(self.folder.name, name)
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)
        self.process = subprocess.Popen([*command(self.path, self.folder.name)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)
        self.folder.cleanup()


def is_up(ask):
    def test():
        try:
            return ask() == 200
        except OSError:
            return False
    return test


class Packaging(unittest.TestCase):
    def test_options_that_files_name_exist(self):
        answer = subprocess.run([PROGRAM, "serve", "--help-all"], capture_output=True, timeout=60, check=True)
        known = set(re.findall(r"--[a-z][a-z-]+", answer.stdout.decode()))
        unit = text_of("packaging", "tokamak.service")
        commands = {"tokamak.service": re.search(r"^ExecStart=.* serve (.*)$", unit, re.MULTILINE)[1],
                    "serve.md": " ".join(re.findall(r"args: \[serve, (.*)\]", text_of("docs", "serve.md"))
                                         + re.findall(r"^tokamak serve (.*)$", text_of("docs", "serve.md"), re.MULTILINE))}
        for name, command in commands.items():
            options = re.findall(r"--[a-z][a-z-]+", command)
            self.assertTrue(options, name)
            for option in options:
                self.assertIn(option, known, name)
        for variable in re.findall(r"TOKAMAK_(?:HOST|PORT|MODEL|API\w*)", text_of("packaging", "Containerfile")):
            self.assertIn(variable, answer.stdout.decode())

    def test_the_image_knows_a_server_that_is_healthy(self):
        command = json.loads(re.search(r"^HEALTHCHECK .* CMD (\[.*\])$", text_of("packaging", "Containerfile"), re.MULTILINE)[1])

        def is_healthy(port):
            return subprocess.run(command, env={**os.environ, "TOKAMAK_PORT": str(port)}, capture_output=True,
                                  timeout=60).returncode == 0
        with Server("--log", "off", "--api-key", "k") as server:
            self.assertTrue(is_healthy(server.port))
        self.assertFalse(is_healthy(free_port()))

    @unittest.skipUnless(shutil.which("nginx") and shutil.which("openssl"), "nginx is not installed")
    def test_nginx_hands_on_streams_while_they_come(self):
        port = free_port()

        def changes(folder):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2",
                            "-keyout", f"{folder}/privkey.pem", "-out", f"{folder}/fullchain.pem"],
                           capture_output=True, check=True)
            return {"/etc/tokamak/tls": folder, "listen 443": f"listen 127.0.0.1:{port}",
                    "127.0.0.1:8080": f"127.0.0.1:{server.port}",
                    "events {": f"pid {folder}/nginx.pid;\nevents {{",
                    "http {": "http {" + "".join(f" {kind}_temp_path {folder}/{kind};" for kind in
                                                 ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))}

        def command(path, folder):
            return ["nginx", "-p", folder, "-e", f"{folder}/error.log", "-c", path, "-g", "daemon off;"]

        def ask(method, path, body=None):
            trusting = ssl.create_default_context()
            trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=trusting)
            connection.request(method, path, body=body)
            return connection.getresponse()
        with Server("--context", 2000, "--trusted-proxy", "127.0.0.0/8") as server, \
                Proxy("nginx.conf", command, changes):
            wait_until(is_up(lambda: ask("GET", "/health").status), what="nginx")
            begin = time.monotonic()
            stream = ask("POST", "/v1/completions", json.dumps({"prompt": PROMPT, "max_tokens": 1500, "stream": True,
                                                                "ignore_eos": True}))
            first = stream.readline()
            first_at = time.monotonic() - begin
            rest = stream.read()
            self.assertEqual(events(first + rest)[-1], "[DONE]")
            self.assertLess(first_at, (time.monotonic() - begin) / 2, "it came before the answer was whole")

    @unittest.skipUnless(shutil.which("haproxy"), "HAProxy is not installed")
    def test_replicas_share_prompts_by_their_beginnings(self):
        port = free_port()
        prompts = [f"{number} is the number of this conversation. " * 30 for number in range(8)]

        def changes(_):
            return {"0.0.0.0:8000": f"127.0.0.1:{port}", "127.0.0.1:8081": f"127.0.0.1:{one.port}",
                    "127.0.0.1:8082": f"127.0.0.1:{two.port}", "inter 2s": "inter 100ms"}

        def ask(method, path, body=None):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            try:
                connection.request(method, path, body=body)
                answer = connection.getresponse()
                return answer.status, answer.read()
            finally:
                connection.close()

        def cached(prompt):
            status, body = ask("POST", "/v1/completions", json.dumps({"prompt": prompt, "max_tokens": 1}))
            self.assertEqual(status, 200, body)
            return json.loads(body)["usage"]["prompt_tokens_details"]["cached_tokens"]
        arguments = ("--log", "off", "--context", 2000, "--max-sequences", 16)
        with Server(*arguments) as one, Server(*arguments) as two, \
                Proxy("haproxy.cfg", lambda path, _: ["haproxy", "-db", "-f", path], changes):
            wait_until(is_up(lambda: ask("GET", "/health")[0]), what="HAProxy")
            time.sleep(0.5)  # both have been asked for their health
            self.assertEqual([cached(prompt) > 0 for prompt in prompts], [False] * len(prompts))
            self.assertEqual([cached(prompt + "And then?") > 0 for prompt in prompts], [True] * len(prompts))
            shares = [server.metric("request_success_total") for server in (one, two)]
            self.assertEqual(sum(shares), 2 * len(prompts))
            self.assertGreater(min(shares), 0, "both work")
            two.stop()
            wait_until(lambda: two.process.poll() is not None, what="the end of a replica")
            for prompt in prompts:
                cached(prompt)


if __name__ == "__main__":
    main(unittest)
