#!/usr/bin/env python3
"""The server's connections: streams, pipelines, clients that leave. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/connections_test.py
"""
import json
import selectors
import signal
import socket
import threading
import time
import unittest

from running_server import (MODEL, Reader, SLOW, Server, completion, events, main, request_bytes, text_of,
                            wait_until)


class Connections(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--max-sequences", 16, "--context", 2000, "--time-scale", "0.02", "--log", "off",
                            backend=SLOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()

    def setUp(self):
        self.sockets = []

    def tearDown(self):
        for sock in self.sockets:
            sock.close()
        self.server.wait_idle()

    def open(self):
        sock = self.server.connect()
        self.sockets.append(sock)
        return sock, Reader(sock)

    def test_a_large_body_keeps_nobody_from_his_tokens(self):
        shares = []
        while len(shares) < 3 and min(shares, default=1) > 0.5:  # a busy machine may stop anybody once
            shares.append(self.longest_silence_beside_a_large_body())
        print("the longest time without an event, in shares of the time that the body took:", shares)
        self.assertLess(min(shares), 0.5)

    def longest_silence_beside_a_large_body(self):
        sock, reader = self.open()
        sock.sendall(request_bytes(prompt="One", stream=True, max_tokens=1900, n=4, ignore_eos=True))
        self.assertEqual(reader.head()[0], 200)
        times = []

        def gather():
            while reader.file.readline():  # until the socket is closed
                times.append(time.monotonic())
        thread = threading.Thread(target=gather)
        thread.start()
        large, large_reader = self.open()
        large.sendall(request_bytes(prompt="word " * (3 << 18)))  # its text becomes tokens, of which there are too many
        begin = time.monotonic()
        self.assertEqual(large_reader.answer()[0], 400)
        end = time.monotonic()
        sock.shutdown(socket.SHUT_RDWR)
        thread.join()
        during = [begin, *(one for one in times if begin < one < end), end]
        return max(b - a for a, b in zip(during, during[1:])) / (end - begin)

    def test_a_chat_is_answered_whole_and_as_a_stream(self):
        chat = {"model": MODEL, "max_tokens": 6, "temperature": 0,
                "messages": [{"role": "user", "content": "Tell me of a fox."}]}
        status, headers, body = self.server.ask("POST", "/v1/chat/completions", chat)
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "application/json")
        whole = json.loads(body)["choices"][0]["message"]["content"]
        status, headers, body = self.server.ask("POST", "/v1/chat/completions", chat | {"stream": True})
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "text/event-stream; charset=utf-8")
        self.assertEqual(headers["Cache-Control"], "no-cache")
        self.assertEqual(headers["X-Accel-Buffering"], "no")
        data = events(body)
        self.assertEqual(data[-1], "[DONE]")
        deltas = [json.loads(one)["choices"][0]["delta"] for one in data[:-1]]
        self.assertEqual("".join(delta.get("content", "") for delta in deltas), whole)

    def test_a_stream_comes_as_it_is_made(self):
        sock, reader = self.open()
        sock.sendall(request_bytes(stream=True, max_tokens=200, ignore_eos=True))
        self.assertEqual(reader.head()[0], 200)
        first = time.monotonic()
        reader.chunk()
        while reader.chunk():
            last = time.monotonic()
        self.assertGreater(last - first, 0.02)

    def test_a_stream_of_one_token_is_a_stream(self):
        sock, reader = self.open()
        sock.sendall(request_bytes(stream=True, max_tokens=1))
        status, fields, body = reader.answer()
        self.assertEqual((status, fields["transfer-encoding"], fields["cache-control"]), (200, "chunked", "no-cache"))
        self.assertEqual(events(body)[-1], "[DONE]")

    def test_every_answer_has_an_id_of_its_own(self):
        seen = {self.server.get(path)[1]["x-request-id"] for path in ("/health", "/v1/models", "/no", "/")}
        self.assertEqual(len(seen), 4)

    def test_pipelined_requests_are_answered_in_their_order(self):
        sock, reader = self.open()
        asked = [dict(prompt=p, max_tokens=n) for p, n in [("The king", 6), ("A cat", 1), ("She", 3)]]
        alone = [self.server.complete(**fields)["choices"][0]["text"] for fields in asked]
        sock.sendall(request_bytes(**asked[0]) + request_bytes("GET", "/health")
                     + request_bytes(stream=True, **asked[1]) + request_bytes(**asked[2]))
        answers = [reader.answer() for _ in range(4)]
        self.assertEqual([answer[0] for answer in answers], [200] * 4)
        self.assertEqual(json.loads(answers[1][2]), {"status": "ok"})
        texts = [json.loads(answers[0][2])["choices"][0]["text"], text_of(answers[2][2]),
                 json.loads(answers[3][2])["choices"][0]["text"]]
        self.assertEqual(texts, alone)

    def test_more_pipelined_requests_than_are_kept_unread(self):
        sock, reader = self.open()
        request = request_bytes("GET", "/health", ["X-Filler: " + "x" * 4000])
        sock.settimeout(30)
        sender = selectors.DefaultSelector()
        sender.register(sock, selectors.EVENT_WRITE)
        sock.sendall(request_bytes(max_tokens=20) + request * 60)
        self.assertEqual([reader.answer()[0] for _ in range(61)], [200] * 61)

    def test_connections_end_where_the_client_says_so(self):
        sock, reader = self.open()
        sock.sendall(request_bytes("GET", "/health", ["Connection: close"]))
        self.assertEqual(reader.answer()[1]["connection"], "close")
        self.assertTrue(reader.is_at_end())

    def test_http_1_0(self):
        sock, reader = self.open()
        body = json.dumps(completion(stream=True, max_tokens=3)).encode()
        sock.sendall(b"POST /v1/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        status, fields = reader.head()
        self.assertEqual(status, 200)
        self.assertNotIn("transfer-encoding", fields)
        self.assertEqual(events(reader.file.read())[-1], "[DONE]")

    def test_a_request_may_come_byte_by_byte(self):
        sock, reader = self.open()
        for byte in request_bytes("GET", "/v1/models"):
            sock.sendall(bytes([byte]))
        self.assertEqual(reader.answer()[0], 200)

    def test_a_body_may_come_in_chunks_after_a_question(self):
        sock, reader = self.open()
        sock.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\n")
        self.assertEqual(reader.head()[0], 100)
        body = json.dumps(completion()).encode()
        for part in (body[:5], body[5:]):
            sock.sendall(b"%x\r\n%s\r\n" % (len(part), part))
        sock.sendall(b"0\r\n\r\n")
        self.assertEqual(reader.answer()[0], 200)

    def test_head_and_options(self):
        status, headers, body = self.server.ask("HEAD", "/v1/models")
        self.assertEqual((status, body), (200, b""))
        self.assertEqual(int(headers["Content-Length"]), len(self.server.get("/v1/models")[2]))
        status, headers, body = self.server.ask("OPTIONS", "/v1/models")
        self.assertEqual((status, headers["Allow"], body), (204, "GET, HEAD, OPTIONS", b""))
        self.assertEqual(self.server.ask("OPTIONS", "/v1/chat/completions")[1]["Allow"], "POST, OPTIONS")
        self.assertEqual(self.server.ask("OPTIONS", "/metrics")[1]["Allow"], "GET, HEAD, OPTIONS")
        self.assertEqual(self.server.ask("OPTIONS", "/nothing")[0], 404)

    def test_wrong_methods_and_paths(self):
        for method, path, allow in [("GET", "/v1/completions", "POST, OPTIONS"),
                                    ("DELETE", "/v1/models", "GET, HEAD, OPTIONS"),
                                    ("POST", "/health", "GET, HEAD, OPTIONS")]:
            status, headers, body = self.server.ask(method, path)
            self.assertEqual((status, headers["Allow"]), (405, allow), path)
            self.assertIn("message", json.loads(body)["error"])
        self.assertEqual(self.server.get("/v1/nothing")[0], 404)

    def busy(self):
        return self.server.metric("num_requests_running") + self.server.metric("num_requests_waiting")

    def check_gone_is_cancelled(self, leave, **fields):
        self.server.wait_idle()
        before = self.server.metric("requests_cancelled_total")
        sock, reader = self.open()
        sock.sendall(request_bytes(max_tokens=1900, ignore_eos=True, **fields))
        if fields.get("stream"):
            self.assertEqual(reader.head()[0], 200)
        wait_until(lambda: self.busy() == 1, what="a request that runs")
        leave(sock)
        wait_until(lambda: self.busy() == 0, 2, "the end of the request")
        self.assertEqual(self.server.metric("requests_cancelled_total"), before + 1)

    def test_a_client_that_leaves_ends_its_request(self):
        self.check_gone_is_cancelled(lambda sock: sock.shutdown(socket.SHUT_RDWR), stream=True)
        self.check_gone_is_cancelled(lambda sock: sock.shutdown(socket.SHUT_RDWR))

    def test_a_client_that_closes_its_end_only_is_gone_too(self):
        self.check_gone_is_cancelled(lambda sock: sock.shutdown(socket.SHUT_WR), stream=True)

    def test_clients_in_the_queue_may_leave(self):
        socks = [self.open()[0] for _ in range(20)]
        for sock in socks:
            sock.sendall(request_bytes(max_tokens=1900, ignore_eos=True))
        wait_until(lambda: self.server.metric("num_requests_waiting") == 4, what="a queue")
        for sock in socks[16:]:
            sock.shutdown(socket.SHUT_RDWR)
        wait_until(lambda: self.server.metric("num_requests_waiting") == 0, 5, "an empty queue")
        self.assertEqual(self.server.metric("num_requests_running"), 16)
        for sock in socks[:16]:
            sock.shutdown(socket.SHUT_RDWR)

    def test_many_streams_at_once_say_what_each_says_alone(self):
        prompts = [f"There were {i} " for i in range(10)]
        alone = [self.server.complete(prompt=p, max_tokens=5, seed=7, temperature=1)["choices"][0]["text"]
                 for p in prompts]
        asked = [(index, *self.open()) for index in list(range(10)) * 20]
        for index, sock, _ in asked:
            sock.sendall(request_bytes(prompt=prompts[index], max_tokens=5, seed=7, temperature=1, stream=True))
        for index, _, reader in asked:
            status, _, body = reader.answer()
            self.assertEqual(status, 200)
            self.assertEqual(text_of(body), alone[index])


class OtherTimes(unittest.TestCase):
    def quiet_stream(self, request):
        """The events of a stream of a server that stands still for longer than 60 ms, several times."""
        with Server("--context", 2000, "--time-scale", "0.004", "--log", "off", backend=SLOW) as server, \
                server.connect() as sock:
            reader = Reader(sock)
            sock.sendall(request)
            self.assertEqual(reader.head()[0], 200)
            for _ in range(10):
                server.process.send_signal(signal.SIGSTOP)
                time.sleep(0.08)
                server.process.send_signal(signal.SIGCONT)
                time.sleep(0.01)
            return b"".join(iter(reader.chunk, b"")).decode().split("\n\n")

    def test_a_quiet_stream_shows_that_it_lives(self):
        parts = self.quiet_stream(request_bytes(stream=True, max_tokens=1900, ignore_eos=True))
        self.assertEqual(parts[-2:], ["data: [DONE]", ""])
        self.assertTrue(": wait" in parts)
        self.assertTrue(all(part.startswith("data: {") or part == ": wait" for part in parts[:-2]))

    def test_a_quiet_stream_of_messages_pings(self):
        body = {"model": "tiny", "max_tokens": 1900, "stream": True, "temperature": 0,
                "messages": [{"role": "user", "content": "Once upon a time"}]}
        parts = self.quiet_stream(request_bytes("POST", "/v1/messages", body=json.dumps(body).encode()))
        self.assertTrue(parts[-2].startswith("event: message_stop"))
        self.assertGreater(sum(part.startswith("event: ping") for part in parts), 1, "the first comes with the start")
        self.assertTrue(all(part.startswith("event: ") for part in parts[:-1]))

    def test_a_slow_client_holds_up_nobody_and_misses_nothing(self):
        fields = {"max_tokens": 200, "n": 4, "ignore_eos": True, "logprobs": 20, "seed": 3}
        with Server("--context", 256, "--log", "off") as server, socket.socket() as sock:
            whole = server.complete(**fields)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(("127.0.0.1", server.port))
            sock.settimeout(60)
            sock.sendall(request_bytes(stream=True, **fields))

            def is_held():
                before = server.metric("iteration_tokens_total_count")
                time.sleep(0.4)
                return server.metric("iteration_tokens_total_count") == before
            wait_until(is_held, 60, "a stream that waits")
            self.assertGreater(server.metric("num_requests_running"), 0)
            self.assertEqual(server.complete(max_tokens=5)["usage"]["completion_tokens"], 5)
            status, _, body = Reader(sock).answer()
            texts = [""] * 4
            for one in events(body)[:-1]:
                choice = json.loads(one)["choices"][0]
                texts[choice["index"]] += choice["text"]
            self.assertEqual(texts, [choice["text"] for choice in whole["choices"]])
            self.assertEqual(events(body)[-1], "[DONE]")


if __name__ == "__main__":
    main(unittest)
