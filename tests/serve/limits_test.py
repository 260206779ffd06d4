#!/usr/bin/env python3
"""What the server refuses, and who may ask. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/limits_test.py
"""
import json
import os
import socket
import tempfile
import time
import unittest

import tiny_model
from running_server import PROMPT, Reader, SLOW, Server, completion, main, request_bytes, resident_kb, wait_until

MIB = 1 << 20


class ServerTest(unittest.TestCase):
    ARGUMENTS = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--log", "off", "--context", 512, *cls.ARGUMENTS, backend=SLOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()

    def ask_raw(self, data):
        with self.server.connect() as sock:
            sock.sendall(data)
            reader = Reader(sock)
            answer = reader.answer()
            return answer, reader.is_at_end() if answer[1].get("connection") == "close" else False


class Limits(ServerTest):
    # Times are a fiftieth: 0.2 seconds for a header, 0.6 for a body and for a write.
    ARGUMENTS = ("--time-scale", "0.02", "--max-body", 4)

    def refused(self, data, status):
        (found, fields, body), is_closed = self.ask_raw(data)
        self.assertEqual(found, status, body)
        self.assertEqual(fields["content-type"], "application/json")
        self.assertIn("message", json.loads(body)["error"])
        self.assertIn("x-request-id", fields)
        self.assertTrue(is_closed)

    def test_requests_that_are_too_long(self):
        self.refused(b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n", 414)
        self.refused(request_bytes("GET", "/", ["A: " + "x" * 33000]), 431)
        self.refused(request_bytes("GET", "/", [f"A{i}: 1" for i in range(101)]), 431)

    def test_a_body_that_is_too_large_is_refused_before_it_is_read(self):
        self.refused(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (50 * MIB), 413)
        self.refused(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                     b"3200000\r\n", 413)

    def test_a_client_that_sends_50_mb_all_the_same_hears_why_not(self):
        with self.server.connect() as sock:
            sock.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (50 * MIB))
            try:
                for _ in range(50):
                    sock.sendall(b"x" * MIB)
            except OSError:
                pass
            self.assertEqual(Reader(sock).answer()[0], 413)

    def test_requests_that_may_be_read_in_two_ways(self):
        for fields in (["Content-Length: 3", "Transfer-Encoding: chunked"], ["Content-Length: 3", "Content-Length: 4"],
                       ["Content-Length: 3", "Content-Length: 3"], ["Content-Length: 3, 3"],
                       ["Transfer-Encoding:\r\n chunked"],
                       ["Content-Length: -1"], ["A b: c"], ["A: b\nC: d"]):
            self.refused(request_bytes("GET", "/", fields), 400)
        chunked = ["Transfer-Encoding: chunked"]
        for size in (b"-2", b"0x2", b"fffffffffffffffff"):
            self.refused(request_bytes("GET", "/", chunked) + size + b"\r\nab\r\n\r\n", 400)
        self.refused(b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n", 400)
        self.refused(b"GET / HTTP/1.1\r\n\r\n", 400)
        self.refused(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505)

    def check_slow(self, sent, dribbled, status):
        begin = time.monotonic()
        with self.server.connect() as sock:
            sock.sendall(sent)
            sock.settimeout(0.05)
            answer = b""
            while b"\r\n\r\n" not in answer and time.monotonic() < begin + 10:
                try:
                    sock.sendall(dribbled)
                    answer += sock.recv(4096)
                except TimeoutError:
                    pass
        self.assertTrue(answer.startswith(b"HTTP/1.1 %d " % status), answer)
        return time.monotonic() - begin

    def test_a_header_that_dribbles(self):
        self.assertLess(self.check_slow(b"GET / HTTP/1.1\r\n", b"A: b\r\n", 408), 2)

    def test_a_body_that_dribbles(self):
        head = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
        self.assertLess(self.check_slow(head, b" ", 408), 3)

    def test_a_connection_without_a_request_ends(self):
        with self.server.connect() as sock:
            begin = time.monotonic()
            self.assertEqual(sock.recv(1), b"")
            self.assertLess(time.monotonic() - begin, 4)

    def test_a_client_that_does_not_read_is_given_up(self):
        before = self.server.metric("requests_cancelled_total")
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(("127.0.0.1", self.server.port))
            # Events with the logprobs of 20 tokens fill what is kept of a stream.
            sock.sendall(request_bytes(stream=True, max_tokens=300, n=4, ignore_eos=True, logprobs=20))
            wait_until(lambda: self.server.metric("requests_cancelled_total") > before, 60, "the end of the stream")
        self.server.wait_idle()

    def test_json_of_any_kind_is_answered(self):
        for body in (b"", b"[", b"[" * 100 + b"]" * 100, b"{\"a\":" * 100 + b"1" + b"}" * 100, b"[" * 100000,
                     b"\xff\xfe", b"null", b"{\"prompt\": \"\\ud800\"}", b"{\"max_tokens\": 1e999}"):
            data = b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            (status, _, answer), _ = self.ask_raw(data)
            self.assertEqual(status, 400, answer)
        self.assertEqual(self.server.ask("POST", "/v1/completions", completion(messages=[[[0]]]))[0], 200)

    def test_a_long_prompt(self):
        status, _, body = self.server.ask("POST", "/v1/completions", completion(prompt="a " * 25000))
        self.assertEqual(status, 400)
        self.assertEqual(json.loads(body)["error"]["code"], "context_length_exceeded")

    def test_a_web_page_of_another_name_cannot_ask(self):
        self.refused_host = self.server.get("/v1/models", {"Host": "evil.example"})
        self.assertEqual(self.refused_host[0], 403)
        for host in ("localhost", f"127.0.0.1:{self.server.port}", "[::1]"):
            self.assertEqual(self.server.get("/v1/models", {"Host": host})[0], 200)

    def test_pages_of_other_origins_cannot_use_the_server(self):
        body = json.dumps(completion(max_tokens=1))
        for headers in ({"Origin": "http://evil.example", "Content-Type": "text/plain", "Sec-Fetch-Site": "cross-site"},
                        {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://localhost:1"}):
            status, fields, answer = self.server.ask("POST", "/v1/completions", body, headers)
            self.assertEqual(status, 403, headers)
            self.assertIn("--cors-origin", json.loads(answer)["error"]["message"])
            self.assertNotIn("Access-Control-Allow-Origin", fields)
        own = f"http://127.0.0.1:{self.server.port}"
        for headers in ({"Origin": own, "Sec-Fetch-Site": "same-origin"}, {"Origin": own}, {},
                        {"Content-Type": "text/plain"}):
            self.assertEqual(self.server.ask("POST", "/v1/completions", body, headers)[0], 200, headers)
        link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
        self.assertEqual(self.server.get("/", link)[0], 200)

    def test_the_whole_address_in_the_request_line(self):
        answer, _ = self.ask_raw(b"GET http://localhost/v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        self.assertEqual(answer[0], 200)
        answer, _ = self.ask_raw(b"GET http://evil.example/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(answer[0], 403)

    def test_answers_that_nobody_reads_take_no_memory(self):
        page = request_bytes("GET", "/", ["Accept: text/html"])  # of 8 kB
        before = resident_kb(self.server.process.pid)
        socks = []
        for _ in range(4):
            socks.append(socket.socket())
            socks[-1].connect(("127.0.0.1", self.server.port))
            socks[-1].setblocking(False)
        end = time.monotonic() + 20
        quiet = 0
        while quiet < 5 and time.monotonic() < end:  # until the server reads no more
            progress = 0
            for sock in socks:
                try:
                    progress += sock.send(page * 1000)
                except BlockingIOError:
                    pass
                except OSError:
                    continue  # it has been given up, as nothing was read
            quiet = 0 if progress else quiet + 1
            time.sleep(0 if progress else 0.02)
        grown = resident_kb(self.server.process.pid) - before
        self.assertLess(grown, 16 << 10, "kB")
        self.assertEqual(self.server.get("/health")[0], 200)
        for sock in socks:
            sock.close()


class Keys(ServerTest):
    @classmethod
    def setUpClass(cls):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as keys:
            keys.write("# of the house\nfirst\n\nsecond\n")
        cls.addClassCleanup(os.unlink, keys.name)
        cls.ARGUMENTS = ("--api-key-file", keys.name, "--api-key", "third", "--cors-origin", "https://page.example",
                         "--allowed-host", "box.local", "--slots", "--max-key-requests", 2)
        super().setUpClass()

    def test_only_who_has_a_key_may_ask(self):
        for key in ("first", "second", "third"):
            self.assertEqual(self.server.get("/v1/models", {"Authorization": f"Bearer {key}"})[0], 200)
            self.assertEqual(self.server.get("/v1/models", {"x-api-key": key})[0], 200)
        for headers in ({}, {"Authorization": "Bearer firs"}, {"Authorization": "first"}, {"x-api-key": ""},
                        {"Authorization": "Bearer # of the house"}):
            status, fields, body = self.server.get("/v1/models", headers)
            self.assertEqual((status, fields["WWW-Authenticate"]), (401, "Bearer"))
            self.assertEqual(json.loads(body)["error"]["code"], "invalid_api_key")

    def test_the_refusal_is_in_the_dialect_of_the_path(self):
        self.assertEqual(json.loads(self.server.ask("POST", "/v1/messages", "{}")[2])["error"]["type"],
                         "authentication_error")
        self.assertIsInstance(json.loads(self.server.ask("POST", "/api/chat", "{}")[2])["error"], str)

    def test_what_needs_a_key_and_what_does_not(self):
        for path, status in (("/health", 200), ("/", 200), ("/metrics", 401), ("/props", 401), ("/slots", 401),
                             ("/nothing", 401)):
            self.assertEqual(self.server.get(path)[0], status, path)

    def test_metrics_need_no_key_where_the_owner_wants_it_so(self):
        with Server("--log", "off", "--api-key", "k", "--public-metrics") as server:
            self.assertEqual([server.get(path)[0] for path in ("/metrics", "/slots", "/v1/models")], [200, 401, 401])

    def test_a_body_without_a_key_is_not_read(self):
        with self.server.connect() as sock:
            sock.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                         b"Content-Length: 1000000\r\n\r\n")
            status, fields, _ = Reader(sock).answer()
            self.assertEqual((status, fields["connection"]), (401, "close"))

    def cached(self, key, **fields):
        answer = self.server.complete({"x-api-key": key}, prompt=PROMPT * 20, max_tokens=1, **fields)
        return answer["usage"]["prompt_tokens_details"]["cached_tokens"]

    def test_prompts_are_shared_among_requests_of_a_key_only(self):
        self.assertEqual(self.cached("first"), 0)
        self.assertGreater(self.cached("first"), 16)
        self.assertEqual(self.cached("second"), 0)
        self.assertGreater(self.cached("second"), 16)

    def test_a_key_has_a_number_of_requests_at_once(self):
        socks = [self.server.connect() for _ in range(2)]
        for sock in socks:
            sock.sendall(request_bytes(fields=["x-api-key: third"], max_tokens=400, ignore_eos=True, stream=True))
            self.assertEqual(Reader(sock).head()[0], 200)
        with self.server.connect() as sock:  # before the body is read
            sock.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nx-api-key: third\r\n"
                         b"Content-Length: 1000000\r\n\r\n")
            status, fields, body = Reader(sock).answer()
        self.assertEqual((status, json.loads(body)["error"]["type"]), (429, "rate_limit_error"))
        self.assertIn("limit of 2 concurrent requests", json.loads(body)["error"]["message"])
        self.assertGreaterEqual(int(fields["retry-after"]), 1)
        self.assertEqual(self.server.get("/v1/models", {"x-api-key": "third"})[0], 200)
        self.server.complete({"x-api-key": "second"}, prompt="x", max_tokens=1)
        socks.pop().close()
        wait_until(lambda: self.server.ask("POST", "/v1/completions", completion(max_tokens=1),
                                           {"x-api-key": "third"})[0] == 200, what="room for the key")
        socks.pop().close()

    def test_scripts_of_a_named_origin_may_ask(self):
        asked = {"Origin": "https://page.example", "Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "authorization"}
        status, headers, _ = self.server.ask("OPTIONS", "/v1/chat/completions", headers=asked)
        self.assertEqual(status, 204)
        self.assertEqual(headers["Access-Control-Allow-Origin"], "https://page.example")
        self.assertEqual(headers["Access-Control-Allow-Headers"], "authorization")
        for more in ({}, {"x-api-key": "first"}):  # what is refused must be readable, too
            headers = self.server.get("/v1/models", {"Origin": "https://page.example"} | more)[1]
            self.assertEqual(headers["Access-Control-Allow-Origin"], "https://page.example")
        status, headers, _ = self.server.get("/v1/models", {"Origin": "https://other.example", "x-api-key": "first"})
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (403, None))

    def test_another_name_that_is_allowed(self):
        self.assertEqual(self.server.get("/health", {"Host": "box.local:80"})[0], 200)
        for host in ("box.locals", "box.local:80@evil", "[::1]evil.example"):
            self.assertEqual(self.server.get("/health", {"Host": host})[0], 403, host)

    def test_slots_show_no_texts(self):
        with self.server.connect() as sock:
            sock.sendall(request_bytes(fields=["x-api-key: first"], max_tokens=400, ignore_eos=True, stream=True))
            self.assertEqual(Reader(sock).head()[0], 200)
            body = self.server.get("/slots", {"x-api-key": "second"})[2]
        slot, = json.loads(body)["slots"]
        self.assertEqual((slot["path"], slot["state"]), ("/v1/completions", "answering"))
        self.assertNotIn(PROMPT.encode(), body)


class Agents(unittest.TestCase):
    def test_many_tools_with_long_names(self):
        """Tools of several servers of MCP: more than 128, whose names have up to 128 characters."""
        with tempfile.TemporaryDirectory() as folder:
            tiny_model.write(folder, max_position_embeddings=16384)
            names = [f"mcp__server__tool_{number}" for number in range(149)] + ["a" * 128]
            tools = [{"name": name, "input_schema": {"type": "object"}} for name in names]
            with Server(folder, "--log", "off", "--context", 16384, is_tiny=False) as server:
                status, _, body = server.ask("POST", "/v1/messages", {
                    "max_tokens": 4, "tools": tools, "messages": [{"role": "user", "content": "Hello"}]})
        self.assertEqual(status, 200, body)
        self.assertGreater(json.loads(body)["usage"]["input_tokens"], 4096)


class Tracing(unittest.TestCase):
    def test_a_trace_shows_steps_and_requests_without_their_texts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            with Server("--context", 256, "--trace", path) as server:
                server.complete(max_tokens=5)
            with open(path) as file:
                text = file.read()
        self.assertNotIn(PROMPT, text)
        events = json.loads(text + "\n]")  # as viewers do, which need no end
        steps = [event for event in events if event["ph"] == "X"]
        self.assertEqual({step["name"] for step in steps}, {"prefill", "decode"})
        for before, after in zip(steps, steps[1:]):  # 1: a microsecond, to which they are rounded
            self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 1)
        request, = [event for event in events if event["ph"] == "b" and event["name"] == "request"]
        self.assertEqual((request["args"]["generated_tokens"], request["args"]["finish"]), (5, "length"))


if __name__ == "__main__":
    main(unittest)
