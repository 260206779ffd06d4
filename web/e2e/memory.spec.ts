// The memory of the tab while a large checkpoint goes through it into the GPU: random weights of LARGE_MIB, on the
// software driver, whose kernels take a minute to compile. Without LARGE_MIB it is left out.
import { closeSync, cpSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { heapOfWorker } from "./heap.ts";
import { BLOCK, block } from "./noise.ts";
import { expect, test } from "./pages.ts";
import { LARGE, TALKING } from "./pages_server.ts";

const MIB = Number(process.env["LARGE_MIB"] ?? 0);
const LAYERS = 2, HIDDEN = 512, HEADS = 4, VOCABULARY = 260_000;
/** Bytes: of JavaScript, array buffers with it, and of the module beside twice its tokenizer.json. */
const MOST_HEAP = 64e6, MOST_MODULE = 24e6;

test.skip(MIB === 0, "LARGE_MIB is not given");

/** A vocabulary of that size: all words of up to four letters, as far as they are needed, and how each is put together. */
function writeTokenizer(): void {
  const tokenizer = JSON.parse(readFileSync(join(TALKING, "tokenizer.json"), "utf8")) as {
    model: { vocab: Record<string, number>; merges: [string, string][] };
  };
  const { vocab, merges } = tokenizer.model;
  const letters = Array.from("etaoinsrhdlucmfywgpbvk");
  const words = [...letters];
  let last = Math.max(...Object.values(vocab));
  for (const word of words) {
    for (const letter of letters) {
      if (last + 1 === VOCABULARY) break;
      if (word + letter in vocab) continue;
      vocab[word + letter] = ++last;
      merges.push([word, letter]);
      words.push(word + letter);
    }
  }
  writeFileSync(join(LARGE, "tokenizer.json"), JSON.stringify(tokenizer, null, 2));
}

/** A model of that size in the shape of the small one: it is as wide as it has to be. */
function writeModel(): number {
  const rows = Math.floor((MIB * BLOCK - 2 * VOCABULARY * HIDDEN) / (LAYERS * 3 * HIDDEN * 2 * 256)) * 256; // of the feed-forward network
  const shapes: Record<string, number[]> = { "model.embed_tokens.weight": [VOCABULARY, HIDDEN], "model.norm.weight": [HIDDEN] };
  for (let layer = 0; layer < LAYERS; ++layer) {
    const matrices: Record<string, number[]> = {
      "input_layernorm": [HIDDEN], "post_attention_layernorm": [HIDDEN],
      "mlp.gate_proj": [rows, HIDDEN], "mlp.up_proj": [rows, HIDDEN], "mlp.down_proj": [HIDDEN, rows],
      "self_attn.q_proj": [64 * HEADS, HIDDEN], "self_attn.k_proj": [128, HIDDEN], "self_attn.v_proj": [128, HIDDEN],
      "self_attn.o_proj": [HIDDEN, 64 * HEADS], "self_attn.q_norm": [64], "self_attn.k_norm": [64],
    };
    for (const [name, shape] of Object.entries(matrices)) shapes[`model.layers.${layer}.${name}.weight`] = shape;
  }
  let size = 0;
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const begin = size;
    size += 2 * shape.reduce((product, one) => product * one, 1);
    return [name, { dtype: "BF16", shape, data_offsets: [begin, size] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  rmSync(LARGE, { recursive: true, force: true });
  mkdirSync(LARGE, { recursive: true });
  cpSync(TALKING, LARGE, { recursive: true });
  const config = JSON.parse(readFileSync(join(TALKING, "config.json"), "utf8")) as object;
  writeFileSync(join(LARGE, "config.json"), JSON.stringify({ ...config, hidden_size: HIDDEN, intermediate_size: rows, vocab_size: VOCABULARY }));
  writeTokenizer();
  const file = openSync(join(LARGE, "model.safetensors"), "w");
  writeSync(file, length);
  writeSync(file, header);
  for (let at = 0; at < size; at += BLOCK) writeSync(file, block(at / BLOCK), 0, Math.min(BLOCK, size - at));
  closeSync(file);
  return size;
}

test.afterAll(() => rmSync(LARGE, { recursive: true, force: true }));

test("a large checkpoint goes through little memory", async ({ context, server }) => {
  test.setTimeout(900_000);
  const size = writeModel();
  const page = await context.newPage();
  // The module's memory never shrinks: at the end it is as large as it was.
  await page.route(/\/worker\.js$/, async (route) => {
    const body = `
      const { instantiate } = WebAssembly;
      WebAssembly.instantiate = async (...given) => {
        const made = await instantiate(...given);
        new BroadcastChannel("memory").onmessage = ({ data }) => data === "ask" && new BroadcastChannel("memory").postMessage(made.exports.memory.buffer.byteLength);
        return made;
      };
    ` + (await (await route.fetch()).text());
    await route.fulfill({ contentType: "text/javascript", body });
  });
  await page.goto(`${server.address}tiny/config.json`);
  const heap = await heapOfWorker(context, page);
  const opened = await page.evaluateHandle(async (address) => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const began = performance.now();
    const engine = await open(`${address}large/`, { backend: "webgpu", chunk: 8, context: 128, sequences: 1, selfTest: false });
    const seconds = (performance.now() - began) / 1000;
    const answer = new Promise<number>((resolve) => {
      new BroadcastChannel("memory").onmessage = ({ data }) => typeof data === "number" && resolve(data);
    });
    new BroadcastChannel("memory").postMessage("ask");
    return { engine, module: await answer, seconds };
  }, server.address);
  const largest = await heap.largest();
  const { total, module, seconds } = await opened.evaluate(async ({ engine, ...measured }) => {
    await engine.close();
    return { total: engine.model.memory.weights, ...measured };
  });
  await heap.stop();
  const tokenizer = statSync(join(LARGE, "tokenizer.json")).size;
  const mega = (bytes: number) => (bytes / 1e6).toFixed(1);
  console.log(`${mega(size)} MB of weights and a tokenizer.json of ${mega(tokenizer)} MB in ${seconds.toFixed(0)} s: JavaScript at most ` +
    `${mega(largest)} MB, the module ${mega(module)} MB`);
  expect(total).toBeGreaterThan(0.9 * size);
  expect(largest).toBeGreaterThan(0);
  expect(largest).toBeLessThan(MOST_HEAP);
  expect(module).toBeLessThan(MOST_MODULE + 2 * tokenizer);
});
