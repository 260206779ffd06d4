#!/usr/bin/env python3
"""The server with a certificate of its own: answers, streams and bodies over HTTPS, and what is none. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/tls_test.py
"""
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import tempfile
import unittest

from running_server import PROGRAM, Reader, SLOW, Server, completion, main, request_bytes, text_of, wait_until


def make_certificate(folder, name):
    """-> the paths of a certificate for 127.0.0.1 and of its key."""
    certificate, key = os.path.join(folder, f"{name}.pem"), os.path.join(folder, f"{name}.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.certificate, cls.key = make_certificate(cls.folder.name, "own")
        cls.server = Server("--tls-cert", cls.certificate, "--tls-key", cls.key, "--max-sequences", 4, "--context", 2000,
                            "--time-scale", "0.05", "--log", "off", backend=SLOW)
        cls.context = ssl.create_default_context(cafile=cls.certificate)
        cls.context.set_alpn_protocols(["h2", "http/1.1"])

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()
        cls.folder.cleanup()

    def connect(self, context=None):
        sock = (context or self.context).wrap_socket(self.server.connect(), server_hostname="127.0.0.1")
        self.addCleanup(sock.close)
        return sock, Reader(sock)

    def ask(self, method, path, body=None):
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=60, context=self.context)
        self.addCleanup(connection.close)
        connection.request(method, path, body=body)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def assert_lives(self):
        self.assertEqual(self.ask("GET", "/health")[0], 200)

    def test_answers_with_the_protocol_it_speaks(self):
        sock, _ = self.connect()
        self.assertEqual(sock.selected_alpn_protocol(), "http/1.1")
        self.assertIn(sock.version(), ("TLSv1.2", "TLSv1.3"))
        self.assert_lives()

    def test_speaks_nothing_older_than_1_2(self):
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.load_verify_locations(self.certificate)
        old.set_ciphers("DEFAULT:@SECLEVEL=0")
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises(ssl.SSLError):
            self.connect(old)

    def test_a_stream_is_that_without_a_stream_and_ends_whole(self):
        fields = {"max_tokens": 40, "temperature": 0, "ignore_eos": True}
        whole = json.loads(self.ask("POST", "/v1/completions", json.dumps(completion(**fields)))[1])
        sock, reader = self.connect()
        sock.sendall(request_bytes(stream=True, **fields))
        self.assertEqual(reader.head()[0], 200)
        self.assertEqual(text_of(b"".join(iter(reader.chunk, b""))), whole["choices"][0]["text"])

    def test_requests_follow_each_other_on_a_connection(self):
        sock, reader = self.connect()
        sock.sendall(2 * request_bytes(max_tokens=2, temperature=0))
        first, second = reader.answer(), reader.answer()
        self.assertEqual([first[0], second[0]], [200, 200])
        self.assertEqual(json.loads(first[2])["choices"], json.loads(second[2])["choices"])

    def test_takes_and_gives_megabytes(self):
        large = "word " * (1 << 20)
        status, body = self.ask("POST", "/tokenize", json.dumps({"content": large}))
        self.assertEqual(status, 200)
        self.assertGreater(len(json.loads(body)["tokens"]), 1 << 20)

    def test_who_speaks_http_is_told(self):
        status, _, body = self.server.ask("GET", "/health")
        self.assertEqual(status, 400)
        self.assertIn(b"https://", body)

    def test_nonsense_and_halves_of_handshakes_harm_nobody(self):
        for bytes_sent in (b"\x16\x03\x01\x02\x00\x01\x00", b"\x00" * 600, b"\x16\x03\x01\x00\x05hello", os.urandom(4000)):
            sock = self.server.connect()
            sock.sendall(bytes_sent)
            sock.settimeout(20)
            try:
                while sock.recv(4096):  # an alert, then the end: of a half in its time
                    pass
            except ConnectionResetError:
                pass
            sock.close()
        self.assert_lives()

    def test_a_hangup_reads_a_new_certificate(self):
        def shown():
            return ssl.get_server_certificate(("127.0.0.1", server.port))
        with tempfile.TemporaryDirectory() as folder:
            old, new = make_certificate(folder, "served"), make_certificate(folder, "next")
            with Server("--tls-cert", old[0], "--tls-key", old[1], "--log", "off") as server:
                sock = ssl.create_default_context(cafile=old[0]).wrap_socket(server.connect(), server_hostname="127.0.0.1")
                first = shown()
                for source, path in zip(new, old):
                    os.replace(source, path)
                server.process.send_signal(signal.SIGHUP)
                wait_until(lambda: shown() != first, what="the new certificate")
                sock.sendall(request_bytes("GET", "/health"))
                self.assertEqual(Reader(sock).answer()[0], 200, "a connection that is there goes on")
                sock.close()

    def test_a_client_that_leaves_ends_its_request(self):
        sock, reader = self.connect()
        sock.sendall(request_bytes(stream=True, max_tokens=1900, ignore_eos=True))
        self.assertEqual(reader.head()[0], 200)
        raw = socket.socket(fileno=os.dup(sock.fileno()))
        raw.shutdown(socket.SHUT_RDWR)  # without a word
        raw.close()

        def is_idle():
            metrics = self.ask("GET", "/metrics")[1].decode()
            return 'tokamak:num_requests_running{model_name="tiny"} 0' in metrics
        wait_until(is_idle, 20, "the end of the request")

    def test_a_connection_that_waits_is_closed_with_a_word(self):
        sock, _ = self.connect()
        self.assertEqual(sock.recv(1), b"", "an end that was not cut off")

    def test_files_that_are_none_are_named(self):
        other = make_certificate(self.folder.name, "other")[1]
        locked = os.path.join(self.folder.name, "locked.key")
        subprocess.run(["openssl", "ec", "-in", self.key, "-aes256", "-passout", "pass:x", "-out", locked], check=True,
                       capture_output=True)
        for certificate, key, named in ((self.certificate, other, other), (self.key, self.key, self.key),
                                        (self.certificate, self.certificate, self.certificate),
                                        (self.certificate, locked, locked), ("/nothing", self.key, "/nothing")):
            ended = subprocess.run([PROGRAM, "serve", "--backend", "cpu", "--port", "0", "--tls-cert", certificate,
                                    "--tls-key", key], capture_output=True, text=True, timeout=60, check=False)
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn(named, ended.stderr)
            self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        ended = subprocess.run([PROGRAM, "serve", "--tls-cert", self.certificate], capture_output=True, text=True,
                               timeout=60, check=False)
        self.assertIn("--tls-key", ended.stderr)


if __name__ == "__main__":
    main(unittest)
