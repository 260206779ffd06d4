#!/usr/bin/env python3
"""Starting, watching, filling and stopping the server. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/operations_test.py
"""
import json
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import tiny_model
from running_server import MODEL, PROGRAM, PROMPT, Reader, SLOW, Server, events, main, request_bytes, wait_until


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
            log = server.wait_logged('"/slots"')
            lines = [line for line in map(json.loads, log.splitlines()) if "path" in line]
            self.assertEqual([line["path"] for line in lines[:3]],
                             ["/v1/completions", "/v1/completions", "/secret"])
            self.assertEqual(lines[2]["status"], 404)
            self.assertNotIn(PROMPT, server.errors().split("Try:")[1])
            self.assertNotIn("hidden", server.errors())

    def test_a_scheduler_of_replicas_finds_its_metrics(self):
        with Server("--log", "off", "--context", 2000, "--max-sequences", 1, backend=SLOW) as server, \
                server.connect() as one, server.connect() as two:
            def total(name):
                return float(re.search(rf"^tokamak:{name} (\S+)$", server.get("/metrics")[2].decode(), re.MULTILINE)[1])
            for sock in (one, two):
                sock.sendall(request_bytes(stream=True, max_tokens=1900, ignore_eos=True))
            wait_until(lambda: (total("total_running_requests"), total("total_queued_requests")) == (1, 1),
                       what="a request that waits")
            wait_until(lambda: total("kv_cache_utilization") > 0.05, what="pages in use")
            self.assertRegex(server.get("/metrics")[2].decode(),
                             r'\ntokamak:cache_config_info{model_name="tiny",block_size="16",num_gpu_blocks="[1-9]\d*"} 1\n')
            one.close()
            two.close()
            server.wait_idle()
            self.assertEqual(total("kv_cache_utilization"), 0, "pages kept for prompts to come are nobody's")

    def test_every_line_of_a_log_in_json_is_an_object(self):
        with Server("--log", "json", "--host", "0.0.0.0") as server:
            server.get("/health")
            server.stop()
            server.process.wait(20)
            lines = [json.loads(line) for line in server.errors().splitlines()]
        messages = {line["message"]: line["level"] for line in lines if "message" in line}
        self.assertIn("warning", messages.values())
        self.assertTrue(any(text.startswith("Try:") for text in messages))
        self.assertTrue(any(text.startswith("Stopping") for text in messages))
        with Server("--log", "json", "--context", 1 << 20, wait=False) as server:
            self.assertEqual(server.process.wait(20), 2)
            self.assertEqual(json.loads(server.errors())["level"], "error")

    def test_a_log_that_nobody_reads_stops_nothing(self):
        ends = os.pipe()
        with Server("--log", "text", stderr=ends[1]) as server:
            sock = server.connect()
            reader = Reader(sock)
            request = request_bytes("GET", "/" + "x" * 90)
            count = 0
            while count < 20000:  # 3 MB of lines: more than the pipe and the queue have room for
                sock.sendall(request * 100)
                for _ in range(100):
                    self.assertEqual(reader.answer()[0], 404)
                count += 100
            sock.close()
            os.close(ends[1])
            with os.fdopen(ends[0], "rb") as log:
                lost, lines = 0, 0
                while lost + lines < count:
                    line = log.readline()
                    lines += b" 404 " in line
                    if b"lines of the log are missing here" in line:
                        lost += int(line.split()[1])
            self.assertGreater(lost, 0)

    def test_the_environment_stands_in_for_options(self):
        port = free_port()
        with Server("--log", "off", is_tiny=False, environment={
                "TOKAMAK_API_KEY": "k", "TOKAMAK_HOST": "127.0.0.2", "TOKAMAK_PORT": "70000", "TOKAMAK_MODEL": "/nowhere"},
                port=port, wait=False) as server:
            self.assertEqual(server.process.wait(20), 3)
            self.assertIn("/nowhere", server.errors())
        with Server("--log", "off", environment={"TOKAMAK_API_KEY": "k", "TOKAMAK_HOST": "127.0.0.2"}) as server:
            server.out.seek(0)
            self.assertIn(b"http://127.0.0.2:", server.out.read())
        wrong = subprocess.run([PROGRAM, "serve"], env=os.environ | {"TOKAMAK_PORT": "x"}, capture_output=True, timeout=60)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn(b'TOKAMAK_PORT is "x"', wrong.stderr)

    def test_a_service_manager_knows_when_it_is_ready(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            path = os.path.join(folder, "notify")
            manager.bind(path)
            manager.settimeout(60)
            with Server("--log", "off", environment={"NOTIFY_SOCKET": path}) as server:
                self.assertEqual(manager.recv(100), b"READY=1")
                server.stop()
                self.assertEqual(manager.recv(100), b"STOPPING=1")

    def test_what_to_try_fits_the_server(self):
        with Server("--log", "off", "--host", "0.0.0.0", "--api-key", "k") as server:
            log = server.wait_logged("Try:")
            self.assertIn(f"curl http://localhost:{server.port}/v1/chat/completions", log)
            self.assertIn('"Authorization: Bearer KEY"', log)
        with Server("--log", "off") as server:
            log = server.wait_logged("Try:")
            self.assertIn(f"curl http://127.0.0.1:{server.port}/v1/chat/completions", log)
            self.assertNotIn("Authorization", log)
        with Server("--log", "off", "--pooling", "mean") as server:
            self.assertIn("/v1/embeddings", server.wait_logged("Try:"), "what the first model answers")

    def test_streams_that_are_closed_stay_so(self):
        """A socket or a file that took their numbers would get the notes of the server."""
        with tempfile.TemporaryDirectory() as folder:
            tiny_model.write(folder)
            trace = os.path.join(folder, "trace.json")
            serve = [PROGRAM, "serve", folder, "--backend", "cpu", "--port", "0", "--trace", trace]
            silent = subprocess.Popen(["sh", "-c", 'exec "$@" 2>&-', "sh", *serve], stdout=subprocess.PIPE)
            self.assertIn(b"Listening", silent.stdout.readline())
            silent.terminate()
            self.assertEqual(silent.wait(20), 0)
            silent.stdout.close()
            with open(trace, encoding="utf-8") as file:
                self.assertTrue(json.loads(file.read() + "\n]"))
            deaf = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *serve], stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(deaf.returncode, 6)
            self.assertIn(b"Writing the output failed: Bad file descriptor.", deaf.stderr)

    def test_a_context_that_is_shorter_than_it_may_be_is_noted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "long")
            os.mkdir(path)
            tiny_model.write(path, max_position_embeddings=8192)
            said = "note: The context of long is 4096 of the 8192 positions"
            with Server(path, "--log", "off", is_tiny=False) as server:
                self.assertNotIn("The context of", server.wait_logged("Try:"))
            with Server(path, "--log", "off", "--max-memory", "8MiB", is_tiny=False) as server:
                self.assertIn(said, server.wait_logged("Try:"))
            with Server(path, "--log", "off", "--context", 512, is_tiny=False) as server:
                self.assertNotIn("The context of", server.wait_logged("Try:"))

    def test_defaults_of_requests_are_options(self):
        def texts(server, **fields):
            return {server.complete(max_tokens=16, ignore_eos=True, **fields)["choices"][0]["text"] for _ in range(3)}
        with Server("--log", "off", "--temp", 1000) as server:
            self.assertGreater(len(texts(server, temperature=None)), 1)
            self.assertEqual(len(texts(server)), 1, "a request that says so itself")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "base")
            os.mkdir(path)
            tiny_model.write(path)
            with open(os.path.join(path, "tokenizer_config.json"), "w", encoding="utf-8") as file:
                json.dump({"eos_token": "</s>"}, file)
            chat = {"max_tokens": 1, "messages": [{"role": "user", "content": "Hello"}]}
            for arguments, status in (((), 400), (("--chat-template", "chatml"), 200)):
                with Server(path, "--log", "off", *arguments, is_tiny=False) as server:
                    self.assertEqual(server.ask("POST", "/v1/chat/completions", chat)[0], status)
            with Server(path, "--log", "off", "--pooling", "mean", is_tiny=False) as server:
                self.assertEqual(server.ask("POST", "/v1/embeddings", {"input": "Hello"})[0], 200)
                old, new = (json.loads(server.ask("POST", path, fields)[2]) for path, fields in (
                    ("/api/embeddings", {"prompt": "Hello"}), ("/api/embed", {"input": "Hello"})))
                self.assertEqual(old["embedding"], new["embeddings"][0])
                self.assertIn("/v1/embeddings", server.wait_logged("Try:"))

    def test_a_model_without_a_tokenizer_is_refused_at_the_start(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mute")
            os.mkdir(path)
            tiny_model.write(path)
            os.remove(os.path.join(path, "tokenizer.json"))
            alone = subprocess.run([PROGRAM, "serve", path, "--backend", "cpu", "--port", "0"], capture_output=True, timeout=60)
            self.assertEqual(alone.returncode, 3)
            self.assertIn(b"mute has no tokenizer.json.", alone.stderr)
            with Server(path, "--log", "off") as server:  # beside the tiny model
                server.wait_logged("note: mute cannot be loaded as it is")

    def test_a_hangup_reads_keys_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "keys.txt")

            def write(*keys):
                with open(path, "w", encoding="utf-8") as file:
                    file.write("\n".join(keys))

            def status(key):
                return server.get("/v1/models", {"x-api-key": key})[0]
            write("old", "both")
            with Server("--log", "off", "--api-key-file", path, "--max-key-requests", 2, "--context", 512,
                        backend=SLOW) as server:
                sock = server.connect()
                sock.sendall(request_bytes(fields=["x-api-key: old"], stream=True, max_tokens=300, ignore_eos=True))
                reader = Reader(sock)
                self.assertEqual(reader.head()[0], 200)
                self.assertEqual(server.complete({"x-api-key": "both"}, prompt=PROMPT * 20, max_tokens=1)
                                 ["usage"]["prompt_tokens_details"]["cached_tokens"], 0)
                write("new", "both")
                server.process.send_signal(signal.SIGHUP)
                wait_until(lambda: status("new") == 200, what="the new key")
                self.assertEqual((status("old"), status("both")), (401, 200))
                cached = [server.complete({"x-api-key": key}, prompt=PROMPT * 20, max_tokens=1)
                          ["usage"]["prompt_tokens_details"]["cached_tokens"] > 0 for key in ("new", "both")]
                self.assertEqual(cached, [False, True], "what was kept is the key's that it was kept for")
                self.assertEqual(events(b"".join(iter(reader.chunk, b"")))[-1], "[DONE]")
                sock.close()
                write("# nobody")
                server.process.send_signal(signal.SIGHUP)
                server.wait_logged("warning: Nothing is read again")
                self.assertEqual(status("new"), 200)

    def test_a_hangup_without_files_stops(self):
        with Server("--log", "off") as server:
            server.process.send_signal(signal.SIGHUP)
            self.assertEqual(server.process.wait(20), 0)

    def test_a_client_behind_a_trusted_proxy_has_its_own_address(self):
        with Server("--log", "json", "--trusted-proxy", "127.0.0.1") as server:
            server.get("/health", {"X-Forwarded-For": "198.51.100.9, 192.0.2.7"})
            server.get("/health", {"Forwarded": 'for="[2001:db8::7]:80"'})
            server.get("/health")
            lines = [json.loads(line) for line in server.wait_logged('"/health"', 3).splitlines() if '"/health"' in line]
            self.assertEqual([line["remote"] for line in lines], ["192.0.2.7", "2001:db8::7", "127.0.0.1"])
        with Server("--log", "json") as server:
            server.get("/health", {"X-Forwarded-For": "192.0.2.7"})
            self.assertIn('"remote": "127.0.0.1"', server.wait_logged('"/health"'))

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
        with Server("--log", "off", "--max-sequences", 1, "--max-queue", 1, "--context", 512, backend=SLOW) as server:
            socks = [server.connect() for _ in range(2)]
            for sock in socks:
                sock.sendall(request_bytes(max_tokens=400, ignore_eos=True))
            wait_until(lambda: server.metric("num_requests_waiting") == 1, what="a queue")
            status, headers, body = server.ask("POST", "/v1/completions", {"prompt": "x"})
            self.assertEqual(status, 429)
            self.assertGreaterEqual(int(headers["Retry-After"]), 1)
            self.assertEqual(json.loads(body)["error"]["code"], "rate_limit_exceeded")
            self.assertIn("The queue is full (1 waiting).", json.loads(body)["error"]["message"])
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
            self.assertIn("--api-key", server.wait_logged("Try:"))
            self.assertEqual(server.get("/health", {"Host": "any.example"})[0], 200)
        with Server("--log", "off", "--host", "0.0.0.0", "--api-key", "k") as server:
            self.assertNotIn("warning", server.wait_logged("Try:"))

    def test_stopping_lets_requests_end(self):
        with Server("--log", "off", "--context", 512, backend=SLOW) as server:
            sock = server.connect()
            idle = server.connect()
            sock.sendall(request_bytes(stream=True, max_tokens=120, ignore_eos=True))
            reader = Reader(sock)
            self.assertEqual(reader.head()[0], 200)
            server.stop()
            wait_until(lambda: server.get("/health")[0] == 503, what="a server that stops")
            status, headers, _ = server.ask("POST", "/v1/completions", {"prompt": "x"})
            self.assertEqual((status, "Retry-After" in headers), (503, True))
            self.assertEqual(server.get("/")[0], 200, "it lives")
            body = b"".join(iter(reader.chunk, b""))
            self.assertEqual(events(body)[-1], "[DONE]")
            sock.close()
            self.assertEqual(server.process.wait(10), 0)
            idle.close()

    def test_stopping_does_not_wait_for_ever(self):
        with Server("--log", "off", "--context", 2000, "--drain", "0.3", backend=SLOW) as server:
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
        with Server("--log", "off", "--context", 2000, backend=SLOW) as server:
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
        with Server("--log", "off", port=port, backend=SLOW) as server:
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
