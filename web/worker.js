// The engine in a Worker: what a page posts is { name, ...values }, what it gets { name, ... }.
//
//   open      { wasm, files: {name: url}, cpu, context }   ->  opened { device }
//   generate  { prompt, maxTokens, temperature, seed }     ->  text { text } ..., done { text, ids }
//   cancel    {}                                           ->  done with what there is
//
// and notice { text } or failed { message } at any time.
import { Engine } from "./host/module.js";

let engine = null;
let running = null; // what stops the text under way

const tell = (text) => postMessage({ name: "notice", text });

async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server answers ${response.status}.`);
  return response;
}

async function* piecesOf(stream) {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function open({ wasm, files, cpu, context }) {
  engine = await Engine.start(await WebAssembly.compileStreaming(fetched(wasm)), { tell });
  for (const [name, url] of Object.entries(files)) {
    const { headers, body } = await fetched(url);
    const size = headers.get("content-length");
    if (size === null) throw new Error(`${url}: the server does not say how long the file is.`);
    await engine.addFile(name, Number(size), piecesOf(body));
  }
  postMessage({ name: "opened", device: await engine.open({ cpu, context }) });
}

async function generate({ prompt, maxTokens, temperature, seed }) {
  if (!engine) throw new Error("No model is open.");
  running = new AbortController();
  const { signal } = running;
  const onText = (text) => postMessage({ name: "text", text });
  const done = await engine.generate(prompt, { maxTokens, temperature, seed, signal, onText });
  postMessage({ name: "done", ...done });
}

const CALLS = { open, generate, cancel: () => running?.abort() };

addEventListener("message", async ({ data: { name, ...values } }) => {
  try {
    await CALLS[name](values);
  } catch (error) {
    postMessage({ name: "failed", message: String(error?.stack ?? error) });
  }
});
