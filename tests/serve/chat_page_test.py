#!/usr/bin/env python3
"""The server's chat page in a headless Chromium, with answers of our own in place of a server.

Run by CTest; by hand as any other. Without a Chromium nothing is tested.
"""
import html
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
                None)
PAGE = os.path.join(os.environ.get("TOKAMAK_SOURCE_DIR", os.path.join(os.path.dirname(__file__), "../..")),
                    "src/serve/page/chat.html")
# Runs before the page's own script: fetch() answers as the probe wants it.
SERVER = """<script>
const asked = [];
let next = null;
window.fetch = (url, options) => {
  if (url === "v1/models") return Promise.resolve(Response.json({data: [{id: "m"}]}));
  asked.push(JSON.parse(options.body).messages);
  return next(options.signal);
};
const silence = (signal) => new Promise((_, reject) => {
  signal.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
});
const saying = (...deltas) => () => Promise.resolve(new Response(
  deltas.map((delta) => `data: ${JSON.stringify({choices: [{delta}]})}\\n\\n`).join("") + "data: [DONE]\\n\\n"));
</script>"""
# Runs after it, and leaves what it found in an element of its own.
PROBE = """<script>
const settled = () => new Promise((resolve) => {
  const look = () => document.getElementById("stop").hidden ? resolve() : setTimeout(look, 1);
  setTimeout(look, 1);
});
const send = (text) => {
  document.getElementById("text").value = text;
  document.getElementById("ask").requestSubmit();
};
const state = () => ({
  box: document.getElementById("text").value,
  articles: [...document.querySelectorAll("article")].map((one) => one.innerText),
  hint: !document.getElementById("hint").hidden,
  error: document.getElementById("error").textContent,
});
(async () => {
  const found = {};
  next = silence;
  send("first");
  document.getElementById("text").value = "typed meanwhile";
  document.getElementById("stop").click();
  await settled();
  found.stopped = state();
  next = saying({role: "assistant", content: ""}, {reasoning_content: "Hm."}, {content: "Yes."});
  send("second");
  await settled();
  found.answered = state();
  found.folded = !document.querySelector("details.thought").open;
  next = saying({role: "assistant", content: ""});
  send("third");
  await settled();
  next = saying({content: "So."});
  send("fourth");
  await settled();
  next = silence;
  send("fifth");
  document.getElementById("clear").click();
  await settled();
  found.cleared = state();
  next = saying({content: "New."});
  send("sixth");
  await settled();
  found.asked = asked.map((messages) => messages.map((one) => one.role[0] + ":" + one.content).join(" "));
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
})();
</script>"""


@unittest.skipUnless(CHROMIUM or "TOKAMAK_REQUIRE_BROWSER" in os.environ,
                     "there is no Chromium; `./dev setup check` installs one")
class ChatPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        page = page.replace("<head>", "<head>" + SERVER).replace("</body>", PROBE + "</body>")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "chat.html")
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
            run = subprocess.run(
                [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
                 f"--user-data-dir={folder}/browser", "--virtual-time-budget=60000", "--dump-dom",
                 f"file://{path}"], capture_output=True, text=True, timeout=120)
        got = re.search(r'<pre id="found">(.*?)</pre>', run.stdout, re.DOTALL)
        assert got, run.stdout[-2000:] + run.stderr[-2000:]
        cls.found = json.loads(html.unescape(got[1]))

    def test_a_question_without_an_answer_is_taken_back(self):
        self.assertEqual(self.found["stopped"],
                         {"box": "typed meanwhile", "articles": [], "hint": True, "error": ""})
        self.assertEqual(self.found["asked"][:2], ["u:first", "u:second"])

    def test_reasoning_is_folded_once_the_answer_begins(self):
        self.assertTrue(self.found["folded"])
        you, model = self.found["answered"]["articles"]
        self.assertIn("second", you)
        self.assertIn("Yes.", model)
        self.assertNotIn("Hm.", model)

    def test_a_silent_answer_is_a_turn_of_its_own(self):
        self.assertEqual(self.found["asked"][3], "u:second a:Yes. u:third a: u:fourth")

    def test_a_new_chat_ends_the_answer_under_way(self):
        self.assertEqual(self.found["cleared"], {"box": "", "articles": [], "hint": True, "error": ""})
        self.assertEqual(self.found["asked"][5], "u:sixth")


if __name__ == "__main__":
    unittest.main()
