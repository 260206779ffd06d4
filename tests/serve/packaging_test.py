#!/usr/bin/env python3
"""Whether the files in packaging/ are true: options, libraries, and proxies where they are installed. Run by CTest; by hand:
  TOKAMAK_PROGRAM=$PWD/build/release/bin/tokamak TOKAMAK_SOURCE_DIR=$PWD python3 tests/serve/packaging_test.py
"""
import concurrent.futures
import http.client
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
import unittest

from operations_test import free_port
from program import SOURCE
from running_server import PROGRAM, PROMPT, SLOW, Server, events, main, wait_until

try:
    import yaml
except ImportError:
    yaml = None

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
                    "serve.md": " ".join(re.findall(r"^tokamak serve (.*)$", text_of("docs", "serve.md"), re.MULTILINE))}
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
        with Server("--context", 2000, "--trusted-proxy", "127.0.0.0/8", backend=SLOW) as server, \
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


class Replicas:
    """Three servers and packaging/haproxy.cfg in front of them, until the end of the block. `changes`: of its text; `more`: of Server."""

    def __init__(self, *arguments, changes=None, **more):
        self.port = free_port()
        more = {"backend": SLOW} | more
        self.servers = [Server("--log", "off", "--context", 2000, *arguments, **more) for _ in range(3)]
        own = {f"127.0.0.1:{8081 + i}": f"127.0.0.1:{server.port}" for i, server in enumerate(self.servers)}
        own |= (changes or {}) | {"0.0.0.0:8000": f"127.0.0.1:{self.port}"}
        # The answer to a test names the replica that has given it.
        own["option http-buffer-request"] = "option http-buffer-request\n    http-response set-header x-replica %s"
        self.by_name = dict(zip(("one", "two", "three"), self.servers))
        self.proxy = Proxy("haproxy.cfg", lambda path, _: ["haproxy", "-db", "-f", path], lambda _: own)

    def __enter__(self):
        try:
            wait_until(is_up(lambda: self.ask("GET", "/health")[0]), what="HAProxy")
        except AssertionError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.proxy.__exit__()
        for server in self.servers:
            server.kill()

    def ask(self, method, path, body=None, headers=None):
        """-> status, which server has answered, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, self.by_name.get(answer.getheader("x-replica")), answer.read()
        finally:
            connection.close()
            time.sleep(0.01)  # the proxy counts a request for a moment longer

    def complete(self, session="", **fields):
        """-> the parsed answer, which server has given it."""
        fields.setdefault("prompt", PROMPT)
        status, server, body = self.ask("POST", "/v1/completions", json.dumps(fields | {"max_tokens": 1}),
                                        {"x-session-id": session} if session else {})
        if status != 200:
            raise AssertionError(f"{status}: {body!r}")
        return json.loads(body), server

    def begin_stream(self, session):
        """-> the answer, whose first event has come."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("POST", "/v1/completions", json.dumps(
            {"prompt": PROMPT, "max_tokens": 1500, "ignore_eos": True, "stream": True}),
            {"x-session-id": session, "Connection": "close"})
        answer = connection.getresponse()
        answer.readline()
        return answer

    def sessions(self):
        """-> a name of a conversation for each server."""
        found = {}
        for number in range(200):  # a replica may have a small share of the ring
            if len(found) == len(self.servers):
                break
            found.setdefault(self.complete(f"session-{number}")[1], f"session-{number}")
        return [found[server] for server in self.servers]


def is_whole(stream):
    try:
        return stream.read().endswith(b"data: [DONE]\n\n")
    except (OSError, http.client.HTTPException):
        return False


@unittest.skipUnless(shutil.which("haproxy"), "HAProxy is not installed")
class Haproxy(unittest.TestCase):
    def test_replicas_share_prompts_by_their_beginnings(self):
        with Replicas(changes={"inter 2s": "inter 100ms"}) as replicas:
            def ask(number, prompt):
                answer, server = replicas.complete(user=f"{number}" * 1024, prompt=f"{number} {prompt}")
                return answer["usage"]["prompt_tokens_details"]["cached_tokens"] > 0, server
            first = [ask(number, PROMPT * 3) for number in range(8)]
            self.assertEqual([is_cached for is_cached, _ in first], [False] * 8)
            self.assertEqual({server for _, server in first}, set(replicas.servers), "all of them work")
            self.assertEqual([ask(number, PROMPT * 3 + " And then?") for number in range(8)],
                             [(True, server) for _, server in first])
            stopped = replicas.servers[1]
            stopped.stop()
            self.assertEqual(stopped.process.wait(20), 0)
            for number, (_, server) in enumerate(first):
                if server is not stopped:
                    self.assertEqual(ask(number, PROMPT * 3), (True, server), "only the share of the one that went moves")
                else:
                    self.assertIsNot(ask(number, PROMPT * 3)[1], stopped)

    def test_a_chat_stays_with_a_replica(self):
        def parts(text):
            return [{"type": "text", "text": text}]
        system = {"role": "system", "content": "You help."}
        more = [{"role": "assistant", "content": "x" * 100}, {"role": "user", "content": "And then?"}]
        chosen = set()
        with Replicas() as replicas:
            def ask(*messages):
                status, server, _ = replicas.ask("POST", "/v1/chat/completions",
                                                 json.dumps({"messages": messages, "max_tokens": 1}))
                self.assertEqual(status, 200)
                return server
            for number in range(6):
                for begins in ([system], [], [system | {"content": parts("You help.")}]):
                    for content in (f"Question {number}", parts(f"Question {number}")):
                        first = [*begins, {"role": "user", "content": content}]
                        self.assertIs(ask(*first), ask(*first, *more), first)
                        chosen.add(ask(*first))
            self.assertEqual(chosen, set(replicas.servers))

    def test_a_conversation_that_is_named_stays_with_a_replica(self):
        with Replicas() as replicas:
            for name, server in zip(replicas.sessions(), replicas.servers):
                for prompt in ("One.", "Another one.", "A third."):
                    self.assertIs(replicas.complete(name, prompt=prompt)[1], server)

    def test_no_request_is_lost_that_had_not_begun(self):
        # The proxy's own checks do not come within this test: what goes to a replica that is gone must be sent again.
        with Replicas(changes={"inter 2s": "inter 1h"}) as replicas, concurrent.futures.ThreadPoolExecutor(8) as threads:
            gone, stopping, other = replicas.servers
            to_gone, to_stopping, to_other = replicas.sessions()
            cut, whole = replicas.begin_stream(to_gone), [replicas.begin_stream(to_other)]
            gone.process.send_signal(signal.SIGSTOP)  # the stream stays in its middle
            waiting = [threads.submit(replicas.complete, session, user="x" * 100_000)
                       for session in (to_gone, to_stopping, to_other) * 2]
            wait_until(lambda: sum(one.done() for one in waiting) >= 4, what="the answers of two replicas")
            self.assertFalse(all(one.done() for one in waiting), "some wait for the one that does not answer")
            gone.process.kill()
            self.assertNotIn(gone, [one.result()[1] for one in waiting])
            self.assertNotIn(gone, [replicas.complete(session)[1] for session in (to_gone, to_stopping, to_other) * 2])
            whole.append(replicas.begin_stream(to_stopping))
            stopping.stop()
            wait_until(lambda: stopping.process.poll() is not None or stopping.get("/health")[0] == 503, what="its last answer")
            self.assertEqual({replicas.complete(session)[1] for session in (to_gone, to_stopping, to_other) * 2}, {other})
            self.assertEqual([is_whole(stream) for stream in whole], [True, True])
            self.assertFalse(is_whole(cut))
            for stream in (cut, *whole):
                stream.close()
            self.assertEqual(stopping.process.wait(30), 0)


@unittest.skipUnless(yaml, "python3-yaml is not installed")
class Kubernetes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.objects = {}
        for name in sorted(os.listdir(os.path.join(PACKAGING, "kubernetes"))):
            for one in yaml.safe_load_all(text_of("packaging", "kubernetes", name)):
                cls.objects[one["kind"], one["metadata"]["name"]] = one
        cls.pod = cls.objects["Deployment", "tokamak"]["spec"]["template"]
        cls.container, = cls.pod["spec"]["containers"]
        cls.arguments = dict(zip(cls.container["args"], [*cls.container["args"][1:], ""]))

    def test_objects_find_each_other(self):
        self.assertEqual({kind for kind, _ in self.objects}, {"Deployment", "Service", "InferencePool", "HTTPRoute", "ConfigMap"})
        deployment, service = self.objects["Deployment", "tokamak"]["spec"], self.objects["Service", "tokamak"]["spec"]
        pool = self.objects["InferencePool", "tokamak"]["spec"]
        for labels in (deployment["selector"]["matchLabels"], service["selector"], pool["selector"]["matchLabels"]):
            self.assertEqual(labels, self.pod["metadata"]["labels"])
        port, = self.container["ports"]
        self.assertEqual(str(port["containerPort"]), self.arguments["--port"])
        self.assertEqual(pool["targetPorts"], [{"number": port["containerPort"]}])
        self.assertEqual([one["targetPort"] for one in service["ports"]], [port["name"]])
        for rule in self.objects["HTTPRoute", "tokamak"]["spec"]["rules"]:
            backend, = rule["backendRefs"]
            self.assertIn((backend.get("kind", "Service"), backend["name"]), self.objects)
            self.assertIn(backend.get("port"), [None] + [one["port"] for one in service["ports"]])
        self.assertEqual(pool["endpointPickerRef"]["name"], self.objects["ConfigMap", "tokamak-picker"]["metadata"]["name"])
        self.assertEqual({one["name"] for one in self.container["volumeMounts"]},
                         {one["name"] for one in self.pod["spec"]["volumes"]})

    def test_what_they_name_exists(self):
        answer = subprocess.run([PROGRAM, "serve", "--help-all"], capture_output=True, timeout=60, check=True).stdout.decode()
        known = set(re.findall(r"--[a-z][a-z-]+", answer))
        self.assertLessEqual({one for one in self.container["args"] if one.startswith("--")}, known)
        variables = {one["name"] for one in self.container["env"]}
        self.assertLessEqual(variables, set(re.findall(r"TOKAMAK_\w+", answer + text_of("docs", "options.md"))))
        mounts = [one["mountPath"] for one in self.container["volumeMounts"]]
        for path in (self.container["args"][1], self.arguments["--api-key-file"], *(one["value"] for one in self.container["env"])):
            self.assertTrue(any(path.startswith(mount) for mount in mounts), path)

    def test_a_pod_has_the_time_to_end_its_requests(self):
        pause = float(self.container["lifecycle"]["preStop"]["exec"]["command"][1])
        self.assertGreater(self.pod["spec"]["terminationGracePeriodSeconds"], pause + float(self.arguments["--drain"]))

    def test_a_pod_may_as_little_as_the_unit_of_systemd(self):
        unit, pod, own = text_of("packaging", "tokamak.service"), self.pod["spec"], self.container["securityContext"]
        self.assertIn("NoNewPrivileges=yes", unit)
        self.assertIn("ProtectSystem=strict", unit)
        self.assertIn("DynamicUser=yes", unit)
        self.assertEqual((own["allowPrivilegeEscalation"], own["readOnlyRootFilesystem"], own["capabilities"]),
                         (False, True, {"drop": ["ALL"]}))
        self.assertTrue(pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0)
        self.assertFalse(pod["automountServiceAccountToken"])

    def test_the_command_starts_and_its_probes_and_metrics_are_there(self):
        arguments = self.container["args"][2:]
        at = arguments.index("--port")
        arguments[at:at + 2] = []
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as keys:
            keys.write("a key\n")
            keys.flush()
            arguments[arguments.index("--api-key-file") + 1] = keys.name
            with Server(*arguments) as server:
                for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                    self.assertEqual(server.get(self.container[probe]["httpGet"]["path"])[0], 200, probe)
                metrics = server.get("/metrics")[2].decode()
        config = yaml.safe_load(self.objects["ConfigMap", "tokamak-picker"]["data"]["config.yaml"])
        plugins = {one["type"]: one.get("parameters") for one in config["plugins"]}
        engine, = plugins["core-metrics-extractor"]["engineConfigs"]
        self.assertEqual(engine.pop("name"), plugins["core-metrics-extractor"]["defaultEngine"])
        self.assertEqual(len(engine), 5)
        for metric in engine.values():
            self.assertIn(f"# TYPE {metric} gauge\n", metrics)
        named = [one["pluginRef"] for one in config["schedulingProfiles"][0]["plugins"]]
        self.assertLessEqual(set(named), set(plugins))


if __name__ == "__main__":
    main(unittest)
