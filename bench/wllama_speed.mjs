// The speed at which tokamak-web and wllama continue the same prompt from the same GGUF files in the same headless Chromium, without WebGPU: one after the
// other in each round, and the greedy texts of both compared first. Needs a built web/tokamak-web/dist, the tools of web/ and wllama's package.
//
//   npm pack @wllama/wllama@3.13.0 && tar xzf wllama-wllama-3.13.0.tgz
//   bench/storyteller_gguf.py storyteller.gguf
//   node bench/wllama_speed.mjs --wllama package [--threads] [--rounds 5] [--tokens 64] [--characters N] storyteller.gguf
//
// --threads sends the headers that wllama's threads take, and asks for one of each core; without them both have one thread, as on a plain host of files. --characters
// cuts the prompt, for models whose made-up vocabulary has a token for each.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { basename, extname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "../web/node_modules/@playwright/test/index.mjs";

const root = resolve(import.meta.dirname, "..");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const CONTEXT = 1024;
/** Each round begins with another word, so that neither engine has the prompt from before. */
const STARTS = ["Once", "Then", "Here", "When", "Long", "Now", "There", "Soon", "Often"];
const STORY = " upon a time there was a king who had three sons, and they were very clever. One day he sent for them and said that he was old, and that"
  + " whoever found the bird with the golden feathers should have the kingdom. So they went out into the wide world, each by a road of his own,"
  + " and the youngest came to a wood where an old woman sat by a fire. She asked him for bread, and he gave her half of what he had.";

const { values, positionals: models } = parseArgs({
  allowPositionals: true,
  options: { wllama: { type: "string" }, threads: { type: "boolean" }, rounds: { type: "string", default: "5" }, tokens: { type: "string", default: "64" },
    characters: { type: "string", default: String(STORY.length) } },
});
if (!values.wllama || models.length === 0) throw new Error("usage: node bench/wllama_speed.mjs --wllama FOLDER [--threads] [--rounds N] [--tokens N] [--characters N] MODEL.gguf...");
const [rounds, tokens] = [Number(values.rounds), Number(values.tokens)];

function fileOf(path) {
  if (path.startsWith("/tokamak/")) return join(root, "web/tokamak-web/dist", path.slice(9));
  if (path.startsWith("/wllama/")) return join(values.wllama, "esm", path.slice(8));
  const at = /^\/model\/(\d+)\//.exec(path)?.[1];
  return at === undefined ? "" : models[Number(at)];
}

const server = createServer(({ url, headers, method }, response) => {
  const path = decodeURIComponent(new URL(url, "http://localhost").pathname);
  const isolated = values.threads ? { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" } : {};
  if (path === "/") return void response.writeHead(200, { "Content-Type": "text/html", ...isolated }).end("<!doctype html><title>speed</title>");
  const size = statSync(fileOf(path) || "/nothing", { throwIfNoEntry: false })?.size;
  if (size === undefined) return void response.writeHead(404).end();
  const [, from = "0", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
  const [start, end] = [Number(from), Math.min(to ? Number(to) : size - 1, size - 1)];
  response.writeHead(headers.range ? 206 : 200, {
    "Content-Type": TYPES[extname(path)] ?? "application/octet-stream", "Content-Length": end - start + 1, "Accept-Ranges": "bytes", ...isolated,
    ...(headers.range && { "Content-Range": `bytes ${start}-${end}/${size}` }),
  });
  if (method === "HEAD") response.end();
  else createReadStream(fileOf(path), { start, end }).pipe(response);
});

/** Runs in the page: opens the model in one of the engines, warms it up, continues each prompt. */
async function measured({ engine, model, prompts, tokens, context }) {
  const file = await (await fetch(model)).blob();
  const begin = performance.now();
  if (engine === "tokamak") {
    const { open } = await import("/tokamak/index.js");
    const own = await open(new File([file], "model.gguf"), { backend: "cpu", context, cache: "none", selfTest: false });
    const opened = performance.now() - begin;
    const found = [];
    for (const prompt of prompts) {
      const { text, tokens: written, promptTokens, cachedTokens, prefillSeconds, decodeSeconds } = await own.generate(prompt, { maxTokens: tokens, temperature: 0 }).result;
      found.push({ text, prompt: promptTokens - cachedTokens, promptRate: (promptTokens - cachedTokens) / prefillSeconds, rate: (written - 1) / decodeSeconds });
    }
    await own.close();
    return { opened, threads: 1, found };
  }
  const { Wllama } = await import("/wllama/index.js");
  const own = new Wllama({ default: "/wllama/wasm/wllama.wasm" }, { suppressNativeLog: true });
  await own.loadModel([file], { n_ctx: context, n_gpu_layers: 0, ...(crossOriginIsolated && { n_threads: navigator.hardwareConcurrency }) });
  const opened = performance.now() - begin;
  const found = [];
  for (const prompt of prompts) {
    const { choices, timings } = await own.createCompletion({ prompt, max_tokens: tokens, temperature: 0, top_k: 1 });
    found.push({ text: choices[0].text, prompt: timings.prompt_n, promptRate: timings.prompt_per_second, rate: timings.predicted_per_second });
  }
  const threads = own.getNumThreads();
  await own.exit();
  return { opened, threads, found };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const rounded = (numbers) => numbers.map((one) => (one < 10 ? one.toFixed(2) : Math.round(one))).join(", ");
/** How many characters of two texts are the same, from their beginning. */
function same(a, b) {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const address = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
console.log(`Chromium ${browser.version()}, one tab, ${rounds} rounds, ${tokens} tokens after a prompt`);
for (const [at, model] of models.entries()) {
  const all = { tokamak: [], wllama: [] };
  for (let round = 0; round < rounds; ++round) {
    for (const engine of round % 2 === 0 ? ["tokamak", "wllama"] : ["wllama", "tokamak"]) {
      const page = await browser.newPage();
      await page.goto(address);
      const prompts = ["A king", (STARTS[round % STARTS.length] + STORY).slice(0, Number(values.characters))]; // the first one warms up
      all[engine].push(await page.evaluate(measured, { engine, model: `/model/${at}/${basename(model)}`, prompts, tokens, context: CONTEXT }));
      await page.close();
    }
  }
  console.log(`\n${model}`);
  for (const which of [0, 1]) {
    const [a, b] = [all.tokamak, all.wllama].map(([{ found }]) => found[which].text.trimStart()); // a SentencePiece text begins with a space, or not
    console.log(`  greedy text ${which + 1}: ${a === b ? `the same ${a.length} characters` : `the same up to character ${same(a, b)} of ${a.length}: "${a.slice(0, 60)}" and "${b.slice(0, 60)}"`}`);
  }
  for (const engine of ["tokamak", "wllama"]) {
    const last = all[engine].map(({ found }) => found[1]);
    console.log(`  ${engine}, threads ${all[engine][0].threads}: prompt of ${last[0].prompt} ${rounded(last.map((one) => one.promptRate))} tok/s; decoding ${rounded(last.map((one) => one.rate))} tok/s; open ${rounded(all[engine].map(({ opened }) => opened))} ms`);
  }
  const ratios = (name) => all.tokamak.map(({ found }, round) => found[1][name] / all.wllama[round].found[1][name]);
  for (const [name, word] of [["promptRate", "prompt"], ["rate", "decoding"]]) {
    console.log(`  tokamak / wllama, ${word}: ${rounded(ratios(name))}; median ${median(ratios(name)).toFixed(2)}`);
  }
}
await browser.close();
server.close();
