#!/usr/bin/env python3
"""Starting, watching, filling and stopping the server. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/operations_test.py
"""
import json
import os
import resource
import signal
import socket
import subprocess
import time
import unittest

from running_server import MODEL, PROGRAM, PROMPT, Reader, Server, events, main, request_bytes, wait_until


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Operations(unittest.TestCase):
    def test_metrics_props_and_log(self):
        with Server("--log", "json", "--context", 256) as server:
            server.complete(max_tokens=4)
            server.complete(max_tokens=2, n=2)
            server.get("/secret?key=hidden")
            self.assertEqual(server.metric("request_success_total", 'finished_reason="'), 2)
            self.assertEqual(server.metric("generation_tokens_total"), 8)
            self.assertEqual(server.metric("request_generation_tokens_count"), 3)
            self.assertEqual(server.metric("time_to_first_token_seconds_count"), 3)
            self.assertEqual(server.metric("inter_token_latency_seconds_count"), 5)
            self.assertGreater(server.metric("step_seconds_count", "decode"), 0)
            self.assertEqual(server.metric("http_requests_total", 'path="/v1/completions",status="200"'), 2)
            text = server.get("/metrics")[2].decode()
            self.assertIn(f'model_name="{MODEL}"', text)
            props = json.loads(server.get("/props")[2])
            self.assertEqual((props["model"], props["context"]), (MODEL, 256))
            self.assertEqual(server.get("/slots")[0], 501)
            lines = [json.loads(line) for line in server.errors().splitlines() if line.startswith("{")]
            self.assertEqual([line["path"] for line in lines[:3]],
                             ["/v1/completions", "/v1/completions", "/secret"])
            self.assertEqual(lines[2]["status"], 404)
            self.assertNotIn(PROMPT, server.errors().split("Try:")[1])
            self.assertNotIn("hidden", server.errors())

    def test_a_browser_gets_a_page_and_a_shell_a_sentence(self):
        with Server("--log", "off") as server:
            status, headers, body = server.get("/")
            self.assertEqual((status, headers["Content-Type"]), (200, "text/plain; charset=utf-8"))
            self.assertIn(b"Tokamak is running", body)
            status, headers, body = server.get("/", {"Accept": "text/html,*/*"})
            self.assertTrue(headers["Content-Type"].startswith("text/html"))
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertIn("img-src data:", policy)
            nonce = policy.split("'nonce-")[1].split("'")[0]
            self.assertIn(f'<script nonce="{nonce}">'.encode(), body)
            self.assertNotEqual(server.get("/", {"Accept": "text/html"})[1]["Content-Security-Policy"], policy)

    def test_a_full_queue_says_when_to_come_again(self):
        with Server("--log", "off", "--max-sequences", 1, "--max-queue", 1, "--context", 512) as server:
            socks = [server.connect() for _ in range(2)]
            for sock in socks:
                sock.sendall(request_bytes(max_tokens=400, ignore_eos=True))
            wait_until(lambda: server.metric("num_requests_waiting") == 1, what="a queue")
            status, headers, body = server.ask("POST", "/v1/completions", {"prompt": "x"})
            self.assertEqual(status, 429)
            self.assertGreaterEqual(int(headers["Retry-After"]), 1)
            self.assertEqual(json.loads(body)["error"]["code"], "queue_full")
            self.assertEqual(server.get("/v1/models")[0], 200)
            for sock in socks:
                sock.close()
            server.wait_idle()
            self.assertEqual(server.complete(max_tokens=1)["choices"][0]["finish_reason"], "length")

    def test_a_model_that_is_loading_is_no_mistake(self):
        port = free_port()
        # The tiny model may be there before anybody has asked.
        with Server("--log", "off", port=port, wait=False, is_tiny=False) as server:
            seen = set()

            def is_ready():
                try:
                    status, headers, _ = server.get("/health")
                except OSError:
                    return False
                seen.add(status)
                if status == 503:
                    self.assertGreaterEqual(int(headers["Retry-After"]), 1)
                return status == 200
            wait_until(is_ready, 60, "a server that is ready")
            self.assertEqual(seen, {503, 200})

    def test_a_port_that_is_taken(self):
        with Server("--log", "off") as server:
            answer = subprocess.run([PROGRAM, "serve", "--backend", "cpu", "--port", str(server.port)],
                                    capture_output=True, timeout=60)
            self.assertEqual(answer.returncode, 2)
            self.assertIn(b"another program listens there", answer.stderr)

    def test_a_server_for_others_without_a_key_is_warned_of(self):
        with Server("--log", "off", "--host", "0.0.0.0") as server:
            self.assertIn("--api-key", server.errors())
            self.assertEqual(server.get("/health", {"Host": "any.example"})[0], 200)
        with Server("--log", "off", "--host", "0.0.0.0", "--api-key", "k") as server:
            self.assertNotIn("warning", server.errors())

    def test_stopping_lets_requests_end(self):
        with Server("--log", "off", "--context", 512) as server:
            sock = server.connect()
            idle = server.connect()
            sock.sendall(request_bytes(stream=True, max_tokens=120, ignore_eos=True))
            reader = Reader(sock)
            self.assertEqual(reader.head()[0], 200)
            server.stop()
            wait_until(lambda: server.get("/health")[0] == 503, what="a server that stops")
            status, headers, _ = server.ask("POST", "/v1/completions", {"prompt": "x"})
            self.assertEqual((status, "Retry-After" in headers), (503, True))
            body = b"".join(iter(reader.chunk, b""))
            self.assertEqual(events(body)[-1], "[DONE]")
            sock.close()
            self.assertEqual(server.process.wait(10), 0)
            idle.close()

    def test_stopping_does_not_wait_for_ever(self):
        with Server("--log", "off", "--context", 2000, "--drain", "0.3") as server:
            sock = server.connect()
            sock.sendall(request_bytes(stream=True, max_tokens=1900, ignore_eos=True))
            reader = Reader(sock)
            self.assertEqual(reader.head()[0], 200)
            server.stop()
            body = b"".join(iter(reader.chunk, b""))
            self.assertIn("cancelled", json.loads(events(body)[-1])["error"]["message"])
            sock.close()
            self.assertEqual(server.process.wait(10), 0)

    def test_a_second_signal_stops_at_once(self):
        with Server("--log", "off", "--context", 2000) as server:
            sock = server.connect()
            sock.sendall(request_bytes(max_tokens=1900, ignore_eos=True))
            wait_until(lambda: server.metric("num_requests_running") == 1, what="a request that runs")
            server.stop()
            wait_until(lambda: server.get("/health")[0] == 503, what="a server that stops")
            server.process.send_signal(signal.SIGINT)
            self.assertEqual(server.process.wait(5), 130)
            sock.close()

    def test_a_server_that_was_killed_starts_again_at_once(self):
        port = free_port()
        with Server("--log", "off", port=port) as server:
            sock = server.connect()
            sock.sendall(request_bytes(stream=True, max_tokens=400))
            self.assertEqual(Reader(sock).head()[0], 200)
            server.process.kill()
            server.process.wait()
            with Server("--log", "off", port=port) as again:
                self.assertEqual(len(again.complete(max_tokens=2)["choices"]), 1)
            sock.close()

    def test_descriptors_that_run_out_end_nothing(self):
        with Server("--log", "off", "--context", 256) as server:
            count = len(os.listdir(f"/proc/{server.process.pid}/fd"))
            limits = (count + 12, count + 12)
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, limits)
            socks = [server.connect() for _ in range(30)]
            time.sleep(0.3)
            for sock in socks:
                sock.close()
            self.assertEqual(wait_until(lambda: server.get("/health")[0], what="an answer"), 200)


if __name__ == "__main__":
    main(unittest)
