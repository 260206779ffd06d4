// Opening and closing: who ends what, the collector, workers, the end of the process, errors of each kind.
import assert from "node:assert/strict";
import { on } from "node:events";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { ENDLESS, GREEDY, listDevices, models, ONCE, open, openStory, openTiny, runNode, seconds, STORYTELLER, TINY, TokamakError, version } from "./shared.mjs";

test("describes the model and the machine", async () => {
  const tiny = await openTiny({ threads: 1 });
  const { model } = tiny;
  assert.deepEqual([model.context, model.sequences, model.vocabulary, model.embeds, model.dimensions], [64, 1, 512, false, 0]);
  assert.ok(model.deviceBytes > 0 && model.device.length > 0 && Array.isArray(model.embedPrompts));
  await tiny.close();
  assert.match(version(), /^\d+\.\d+\.\d+$/);
  const device = (await listDevices()).at(-1);
  assert.deepEqual(Object.keys(device).sort(), ["backend", "driver", "isSoftware", "name", "number"]);
});

test("tells its progress, from 0 to 1", async () => {
  const seen = [];
  await (await open(pathToFileURL(STORYTELLER), { backend: "cpu", onProgress: (progress) => seen.push(progress) })).close();
  const phases = seen.map(({ phase }) => phase);
  assert.equal(phases[0], "read");
  assert.ok(phases.includes("compile"));
  assert.equal(phases.at(-1), "ready");
  const overall = seen.map((progress) => progress.overall);
  assert.deepEqual(overall, [...overall].sort((a, b) => a - b));
  assert.equal(overall.at(-1), 1);
});

test("a signal and an error of a callback end the opening", async () => {
  await assert.rejects(openTiny({ signal: AbortSignal.abort() }), { name: "TokamakError", code: "cancelled" });
  const control = new AbortController();
  await assert.rejects(openStory({ signal: control.signal, onProgress: () => control.abort() }), { code: "cancelled" });
  const mine = new RangeError("mine");
  const fail = () => {
    throw mine;
  };
  await assert.rejects(openStory({ onProgress: fail }), (error) => error === mine);
});

test("errors have the codes of the C interface and sentences", async () => {
  const refused = async (promise, code, message) => {
    const error = await promise.then(() => assert.fail("no error"), (found) => found);
    assert.ok(error instanceof TokamakError && error instanceof Error, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
  };
  await refused(open("no/such/folder/at/all"), "invalid-input", /no\/such\/folder\/at\/all/);
  await refused(open(TINY, { backend: "abacus" }), "usage", /abacus/);
  await refused(open(TINY, { colour: "red" }), "usage", /There is no option "colour", but model/);
  await refused(open(TINY, { context: "many" }), "usage", /many/);
  await refused(open(TINY, { draft: {} }), "usage", /draft is of the type object/);
  await refused(open("org/absent", { pull: false }), "invalid-input", /org\/absent/);
  await refused(models.locate("org/absent"), "invalid-input", /org\/absent/);
  const story = await openStory();
  await refused(story.generate(ONCE, { colour: "red" }).result, "usage", /There is no option "colour", but prompt/);
  await refused(story.generate("ab\0c").result, "invalid-input", /prompt has a zero character at byte 2/);
  await refused(story.generate(3).result, "usage", /./);
  await refused(story.generate([-1]).result, "usage", /-1 is no token id/);
  await refused(story.generate("").result, "usage", /no prompt/);
  await refused(story.generate(ONCE, { grammar: "root ::= (" }).result, "invalid-input", /./);
  const read = async () => {
    for await (const _ of story.generate("", {}));
  };
  await refused(read(), "usage", /no prompt/);
  await story.close();
});

test("closing ends what runs, and later calls are errors", async () => {
  const story = await openStory();
  const ids = await story.tokenize(ONCE.repeat(60));
  const texts = [story.generate(ONCE, ENDLESS), story.generate(ONCE, ENDLESS)];
  const logits = story.logits(ids, { all: true });
  const seen = assert.rejects(logits, { code: "cancelled" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  await story.close();
  for (const text of texts) assert.equal((await text.result).finish, "cancelled");
  await seen;
  const closed = { name: "TokamakError", code: "usage", message: "The model is closed." };
  for (const use of [
    () => story.generate(ONCE).result,
    () => story.chat([{ role: "user", content: "Hello" }]).text(),
    () => story.tokenize("a"),
    () => story.detokenize([1]),
    () => story.render([]),
    () => story.embed("a"),
    () => story.logits([1]),
    () => story.exchange({ method: "GET", path: "/v1/models", body: "" }),
  ]) {
    await assert.rejects(use(), closed);
  }
  await story.close();
});

test("a model that nothing refers to is freed, with its streams", async () => {
  const { stdout } = await runNode(
    `for (let i = 0; i < 15; ++i) {
       const engine = await t.openStory({ onNotice: () => {} });
       const run = engine.generate(t.ONCE, t.ENDLESS);
       for await (const _ of run) break;
       await run.result;
       for (let k = 0; k < 3; ++k) { gc(); await new Promise((resolve) => setTimeout(resolve, 1)); }
     }
     console.log(process.memoryUsage().rss / 1e6);`,
    { flags: ["--expose-gc"] },
  );
  // One of them takes more than 26 MB.
  assert.ok(Number(stdout) < 350, `${stdout} MB`);
});

test("a model is not freed while one of its texts runs", async () => {
  const { stdout } = await runNode(
    `const run = (await t.openStory()).generate(t.ONCE, { ...t.ENDLESS, maxTokens: 200 });
     for await (const _ of run) gc();
     console.log((await run.result).finish);`,
    { flags: ["--expose-gc"] },
  );
  assert.equal(stdout, "length\n");
});

test("the process ends by itself while a model is open", async () => {
  assert.equal((await runNode(`await t.openStory(); console.log("open");`, { timeout: 10_000 })).stdout, "open\n");
  const began = performance.now();
  const { stdout } = await runNode(`const engine = await t.openStory(); console.log(await engine.generate(t.ONCE, t.GREEDY).text());`);
  assert.equal(stdout, ", there lived a king who had three\n");
  assert.ok(seconds(began) < 10);
});

test("a text that nobody reads goes on to its end", async () => {
  const { stdout } = await runNode(
    `const engine = await t.openStory(); engine.generate(t.ONCE, t.GREEDY).result.then(({ finish }) => console.log(finish));`,
  );
  assert.equal(stdout, "length\n");
});

test("process.exit() in the middle of everything", async () => {
  const failed = await runNode(
    `const engine = await t.openStory();
     for await (const _ of engine.generate(t.ONCE, t.ENDLESS)) break;
     engine.logits(await engine.tokenize(t.ONCE.repeat(100)), { all: true }).catch(() => {});
     engine.generate(t.ONCE, t.ENDLESS);
     t.openStory().catch(() => {});
     setTimeout(() => process.exit(3), 20);`,
  ).then(
    () => assert.fail("no status"),
    (error) => error,
  );
  assert.deepEqual([failed.code, failed.signal, failed.stderr], [3, null, ""]);
});

const WORKER = `
  const { parentPort, workerData } = require("node:worker_threads");
  import(workerData).then(async (t) => {
    const engine = await t.openStory();
    parentPort.postMessage(await engine.generate(t.ONCE, t.GREEDY).text());
    for await (const { text } of engine.generate(t.ONCE, t.ENDLESS)) parentPort.postMessage(text);
  });`;

function startWorker() {
  const worker = new Worker(WORKER, { eval: true, workerData: new URL("shared.mjs", import.meta.url).href });
  const messages = on(worker, "message");
  return { worker, message: async () => (await messages.next()).value[0] };
}

test("worker threads have models of their own, and end in the middle of a text", async () => {
  const story = await openStory();
  const workers = [startWorker(), startWorker()];
  const expected = await story.generate(ONCE, GREEDY).text();
  for (const { message } of workers) assert.equal(await message(), expected);
  await Promise.all(workers.map(({ message }) => message()));
  const began = performance.now();
  await Promise.all(workers.map(({ worker }) => worker.terminate()));
  assert.ok(seconds(began) < 5);
  assert.equal(await story.generate(ONCE, GREEDY).text(), expected);
  await story.close();
});
