#!/usr/bin/env python3
"""The page of `tokamak profile --html` in a headless Chromium, and the trace beside it.

Run by CTest; by hand as cli_test.py. Without a Chromium only what needs none is tested.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import program
from program import model, tokamak

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
                None)
NEEDS_CHROMIUM = unittest.skipUnless(CHROMIUM or "TOKAMAK_REQUIRE_BROWSER" in os.environ,
                                     "there is no Chromium; `./dev setup check` installs one")
# Runs after the page's own script and leaves what it found in an element of its own.
PROBE = """<script>
const press = (key) => document.getElementById("track").dispatchEvent(
  new KeyboardEvent("keydown", {key, bubbles: true}));
const chosen = () => document.querySelector("#track [aria-selected=true]").id;
const found = {width: innerWidth, overflow: document.documentElement.scrollWidth - innerWidth};
found.lanes = [...document.querySelectorAll("#track .lane")].map((lane) => lane.dataset.name);
found.parts = document.querySelectorAll("#track [role=option]").length;
found.rows = document.getElementById("step-table").tBodies[0].rows.length;
found.sources = document.querySelectorAll("#source-list details").length;
found.bars = document.querySelectorAll("#lifetimes rect").length;
press("Home"); found.home = chosen();
press("ArrowRight"); found.right = chosen();
press("End"); found.end = chosen();
found.active = document.getElementById("track").getAttribute("aria-activedescendant");
document.getElementById("step-table").tBodies[0].rows[2].click(); found.clicked = chosen();
const ticks = document.getElementById("axis").children;
found.ticks = ticks.length; found.first_tick = ticks[0].textContent;
found.layers = [...document.getElementById("layers").children].map((mark) => mark.title.split(":")[0]);
found.origin = document.getElementById("origin").textContent;
const dots = document.querySelectorAll("#roofline-chart circle");
found.dots = dots.length;
const changed = document.getElementById("changed");
found.changed = document.getElementById("fusion-table").tBodies[0].rows.length;
changed.click(); found.all = document.getElementById("fusion-table").tBodies[0].rows.length;
const choose = (id, property, value) => {
  const field = document.getElementById(id);
  field[property] = value; field.dispatchEvent(new Event("change"));
};
choose("before", "checked", true);
found.operations = document.querySelectorAll("#track .origin-op").length;
choose("before", "checked", false);
choose("rows", "value", "one");
found.in_one = document.querySelectorAll("#track > [role=option]").length;
found.floors = document.getElementById("floors-about").textContent;
const color = document.getElementById("color");
color.value = "floor"; color.dispatchEvent(new Event("change"));
found.legend = document.getElementById("legend").textContent;
found.title = document.getElementById("title").textContent;
found.detail = document.getElementById("detail").textContent;
dots[0].dispatchEvent(new MouseEvent("click")); found.dot = chosen();
const out = document.createElement("div");
out.id = "found"; out.textContent = JSON.stringify(found);
document.body.append(out);
</script>"""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.folder = place.name
        cls.html, cls.trace = (os.path.join(cls.folder, name) for name in ("p.html", "t.json"))
        answer = tokamak("profile", model("gemma3_mm"), "-d", 3, "-r", 1, "--context", 32, "--chunk", 8,
                         "--backend", "webgpu", "--html", cls.html, "--trace", cls.trace, "--json",
                         timeout=300)
        if answer.status in (4, 5):
            assert "TOKAMAK_REQUIRE_GPU" not in os.environ, answer
            raise unittest.SkipTest("there is no WebGPU device that times kernels")
        assert answer.status == 0, answer
        assert len(answer.notes) == len(set(answer.notes)), answer.notes
        cls.profile = json.loads(answer.out)
        with open(cls.html, encoding="utf-8") as file:
            cls.page = file.read()
        cls.data = json.loads(re.search(r'id="data">(.*?)</script>', cls.page, re.DOTALL)[1])

    def look(self, width):
        """What the probe finds in a window of that width."""
        self.assertIsNotNone(CHROMIUM, "TOKAMAK_REQUIRE_BROWSER is set, and there is no Chromium")
        path = os.path.join(self.folder, f"probe{width}.html")
        # Chromium's windows have a least width; a frame may be narrower.
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page.replace("</body>", PROBE + "</body>"))
        frame = os.path.join(self.folder, f"frame{width}.html")
        with open(frame, "w", encoding="utf-8") as file:
            file.write(f'<iframe src="probe{width}.html" style="width:{width}px;height:900px;'
                       'border:0"></iframe><pre id="got"></pre><script>onload = () => {'
                       'document.getElementById("got").textContent = document.querySelector("iframe")'
                       '.contentDocument.getElementById("found").textContent; }</script>')
        run = subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             "--allow-file-access-from-files", f"--user-data-dir={self.folder}/browser",
             "--window-size=1400,1000", "--dump-dom", f"file://{frame}"],
            capture_output=True, text=True, timeout=120)
        said = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
        self.assertEqual(said, [], "errors of scripts and of the content policy")
        self.assertIn('<pre id="got">{', run.stdout, run.stderr[-2000:])
        got = re.search(r'<pre id="got">(.*?)</pre>', run.stdout, re.DOTALL)[1]
        return json.loads(got.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))

    @NEEDS_CHROMIUM
    def test_it_draws_everything_at_every_width(self):
        steps = self.data["steps"]
        for width in (1280, 390):
            with self.subTest(width):
                found = self.look(width)
                self.assertEqual(found["width"], width)
                self.assertLessEqual(found["overflow"], 0)
                self.assertEqual(found["parts"], len(steps))
                self.assertEqual([lane for lane in found["lanes"] if lane], [f"layer {i}" for i in range(6)])
                self.assertEqual(found["operations"], sum(len(row["unfused"]) for row in self.data["fusion"]))
                self.assertEqual(found["in_one"], len(steps))
                self.assertRegex(found["floors"], r"^The second bar is the roofline: .* % of the time\.$")
                self.assertEqual(found["rows"], len(steps))
                self.assertEqual(found["sources"], len(self.data["sources"]))
                self.assertGreater(found["bars"], len(steps) // 2)
                self.assertEqual(found["all"], len(self.data["fusion"]))
                self.assertGreater(found["all"], found["changed"])
                self.assertGreater(found["changed"], 0)
                self.assertIn("gemma3_mm: greedy of 1 token after 3", found["title"])
                self.assertIn("of roofline", found["legend"])
                self.assertEqual(found["dots"], sum(step["flops"] > 0 for step in steps))
                self.assertEqual(found["dot"], "step-1", "a dot chooses its dispatch")
                self.assertEqual(found["layers"], [f"layer {i}" for i in range(6)])
                self.assertEqual(found["first_tick"], "0")
                self.assertGreater(found["ticks"], 3)
                self.assertIn("tokamak profile", found["origin"])
                self.assertIn("commit", found["origin"])
                self.assertIn(steps[2]["weights"][0], found["detail"])
                self.assertIn(steps[2]["kernel"], found["detail"])

    @NEEDS_CHROMIUM
    def test_it_is_used_with_the_keyboard(self):
        found, last = self.look(800), len(self.data["steps"]) - 1
        self.assertEqual([found["home"], found["right"], found["end"], found["clicked"]],
                         ["step-0", "step-1", f"step-{last}", "step-2"])
        self.assertEqual(found["active"], f"step-{last}")

    def test_it_carries_the_steps_that_were_timed(self):
        self.assertEqual(len(self.data["steps"]), self.profile["launches"])
        self.assertAlmostEqual(sum(step["us"] for step in self.data["steps"]),
                               self.profile["microseconds"], delta=0.01)
        for step in self.data["steps"]:
            source = self.data["sources"][step["source"]]
            self.assertEqual(source["kernel"].split(".")[0], step["op"])
            self.assertIn("@compute", source["text"])

    def test_the_trace_is_chromes(self):
        with open(self.trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        launches = [event for event in events if event["ph"] == "X"]
        self.assertEqual(len(launches), self.profile["launches"])
        for event in launches:
            self.assertTrue({"name", "cat", "ts", "dur", "pid", "tid", "args"} <= event.keys())
        for one, next_one in zip(launches, launches[1:]):
            self.assertAlmostEqual(one["ts"] + one["dur"], next_one["ts"], delta=1e-3)

    def test_files_that_cannot_be_written_are_named(self):
        answer = tokamak("profile", model("gemma3_mm"), "-r", 1, "--context", 32, "--chunk", 8,
                         "--backend", "webgpu", "--trace", "/nonexistent/t.json")
        self.assertEqual(answer.status, 6, answer)
        self.assertIn("/nonexistent/t.json: The file cannot be written: No such", answer.errors[0])

    def test_what_stood_in_a_file_stays_until_there_is_something_in_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.html")
            with open(path, "w+", encoding="utf-8") as earlier:
                earlier.write("earlier")
                earlier.flush()
                answer = tokamak("profile", model("gemma3_mm"), "-r", 1, "--context", 32, "--chunk", 8,
                                 "--backend", "webgpu", "--html", path)
                self.assertEqual(answer.status, 0, answer)
                earlier.seek(0)
                self.assertEqual(earlier.read(), "earlier", "who reads it sees all of it")
            with open(path, encoding="utf-8") as file:
                self.assertIn("</html>", file.read())
            self.assertEqual(os.listdir(folder), ["p.html"])

    def test_a_link_and_a_device_are_followed(self):
        with tempfile.TemporaryDirectory() as folder:
            real, link = os.path.join(folder, "real.json"), os.path.join(folder, "link.json")
            open(real, "w", encoding="utf-8").close()
            os.symlink(real, link)
            flags = ("profile", model("gemma3_mm"), "-r", 1, "--context", 32, "--chunk", 8, "--backend",
                     "webgpu", "--trace")
            self.assertEqual(tokamak(*flags, link).status, 0)
            self.assertTrue(os.path.islink(link))
            with open(real, encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            self.assertIn("layers.0.", json.dumps(events))
            answer = tokamak(*flags, "/dev/stdout")
            self.assertEqual(answer.status, 0, answer)
            self.assertIn('"traceEvents"', answer.out)
            answer = tokamak(*flags, "/dev/full")
            self.assertEqual(answer.status, 6, answer)
            self.assertIn("/dev/full: The file cannot be written: No space left", answer.errors[0])


if __name__ == "__main__":
    program.main(unittest)
