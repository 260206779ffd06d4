"""urllib_client.py URL: Python's own HTTP client against a server of the built-in model."""
import json
import sys
import unittest
import urllib.error
import urllib.request

QUESTION = [{"role": "user", "content": "Tell me a story about a fox."}]


def post(path, body):
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    return urllib.request.urlopen(urllib.request.Request(URL + path, data, headers), timeout=60)


def ask(**changes):
    body = {"messages": QUESTION, "max_tokens": 8, "temperature": 0} | changes
    return post("/v1/chat/completions", body)


class Urllib(unittest.TestCase):
    def test_a_streamed_answer_is_the_plain_one(self):
        with ask() as response:
            whole = json.load(response)["choices"][0]["message"]["content"]
        with ask(stream=True) as response:
            lines = [line.decode().strip() for line in response]
        events = [line.removeprefix("data: ") for line in lines if line]
        self.assertEqual(events.pop(), "[DONE]")
        deltas = [json.loads(event)["choices"][0]["delta"] for event in events]
        self.assertEqual("".join(delta.get("content") or "" for delta in deltas), whole)
        self.assertNotEqual(whole, "")

    def test_leaving_a_stream_leaves_the_server_well(self):
        with ask(stream=True, max_tokens=400) as response:
            response.readline()
        with ask(max_tokens=2) as response:
            self.assertEqual(json.load(response)["usage"]["completion_tokens"], 2)

    def test_what_is_wrong_is_an_error_with_a_body(self):
        with self.assertRaises(urllib.error.HTTPError) as raised:
            ask(temperature=3)
        self.assertEqual(raised.exception.code, 400)
        with raised.exception as response:
            error = json.load(response)["error"]
        self.assertEqual((error["type"], error["param"]), ("invalid_request_error", "temperature"))

    def test_a_text_with_every_kind_of_character_goes_to_tokens_and_back(self):
        text = "fox \u00e9 \u6f22 \U0001f642 \" \\ \n"
        with post("/tokenize", {"content": text}) as response:
            tokens = json.load(response)["tokens"]
        with post("/detokenize", {"tokens": tokens}) as response:
            self.assertEqual(json.load(response)["content"], text)


if __name__ == "__main__":
    URL = sys.argv.pop()
    unittest.main()
