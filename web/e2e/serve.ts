// A hub with models as the tests need them: /MODE/MiB is one of that size whose server behaves in that way.
//
//   plain   ranges, as they should be                 wrong   one byte is another
//   slow    some MB/s                                 html    a web page in place of the file
//   cut     each part's first answer ends at 40 %     busy    each first answer is 429
//   whole   no ranges: 200 in place of 206
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "vite";

import { BLOCK, block } from "./noise.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const PART = 16 << 20; // what a download asks for
const SLOW_BYTES = 64 << 10, SLOW_MS = 10;
const CONFIG = Buffer.from('{"model_type": "llama"}');

export interface Served {
  url: string;
  /** Paths with the ranges that were asked for. */
  requests: string[];
  close(): void;
}

/** The Worker of the tests as one script. */
async function bundled(): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      minify: false,
      target: "es2023",
      lib: { entry: `${import.meta.dirname}/models.worker.ts`, formats: ["iife"], name: "test" },
    },
  });
  const [{ output: [chunk] }] = output as unknown as [{ output: [{ code: string }] }];
  return chunk.code;
}

const PAGE = `<!doctype html><title>models</title><script>
  const worker = new Worker("/worker.js"), waiting = new Map();
  worker.onmessage = ({ data: { id, result, error } }) => waiting.get(id)(error ? { error } : { result });
  window.ask = (command, values = {}) => new Promise((resolve) => {
    waiting.set(waiting.size, resolve);
    worker.postMessage({ id: waiting.size - 1, command, values });
  });
</script>`;

const hashes = new Map<number, string>();
function hashOf(mebibytes: number): string {
  if (!hashes.has(mebibytes)) {
    const hash = createHash("sha256");
    for (let i = 0; i < mebibytes; ++i) hash.update(block(i));
    hashes.set(mebibytes, hash.digest("hex"));
  }
  return hashes.get(mebibytes)!;
}

const blocks = new Map<number, Uint8Array>();
const MOST_BLOCKS = 64;

/** Made once, but for those of very large files. */
function stored(number: number): Uint8Array {
  const bytes = blocks.get(number) ?? block(number);
  if (blocks.size < MOST_BLOCKS) blocks.set(number, bytes);
  return bytes;
}

async function send(response: ServerResponse, mode: string, begin: number, end: number, last: number): Promise<void> {
  const step = mode === "slow" ? SLOW_BYTES : BLOCK;
  let goOn = () => {};
  response.on("drain", () => goOn()).on("close", () => goOn());
  for (let at = begin; at < last && !response.destroyed; ) {
    const number = Math.floor(at / BLOCK), from = at - number * BLOCK;
    const right = stored(number).subarray(from, Math.min(from + step, BLOCK, from + last - at));
    const bytes = mode === "wrong" && number === 1 ? right.map((byte) => byte ^ 1) : right;
    at += bytes.length;
    if (!response.write(bytes)) await new Promise<void>((resolve) => (goOn = resolve));
    if (mode === "slow") await pause(SLOW_MS);
  }
  if (last === end) return void response.end();
  await pause(100); // what was written is on its way
  response.destroy();
}

export async function serve(): Promise<Served> {
  const worker = await bundled();
  const requests: string[] = [];
  const seen = new Set<string>();

  const file = async (request: IncomingMessage, response: ServerResponse, mode: string, mebibytes: number) => {
    const isFirst = !seen.has(`${request.url} ${request.headers.range}`);
    seen.add(`${request.url} ${request.headers.range}`);
    if (mode === "html") return void response.writeHead(200, { "Content-Type": "text/html" }).end("<p>Sign in");
    if (mode === "busy" && isFirst) return void response.writeHead(429, { "Retry-After": "1" }).end();
    const size = mebibytes * BLOCK;
    const range = mode === "whole" ? null : /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
    const begin = Number(range?.[1] ?? 0), end = range?.[2] ? Math.min(size, Number(range[2]) + 1) : size;
    response.writeHead(range ? 206 : 200, {
      "Content-Length": end - begin,
      ETag: `"${mebibytes}"`,
      ...(range && { "Content-Range": `bytes ${begin}-${end - 1}/${size}` }),
    });
    const isCut = mode === "cut" && isFirst && begin % PART === 0;
    const last = isCut ? begin + Math.floor(0.4 * (end - begin)) : end;
    await send(response, mode, begin, end, last);
  };

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://localhost");
    requests.push(`${pathname} ${request.headers.range ?? ""}`.trim());
    if (pathname === "/") return void response.writeHead(200, { "Content-Type": "text/html" }).end(PAGE);
    if (pathname === "/worker.js") {
      return void response.writeHead(200, { "Content-Type": "text/javascript" }).end(worker);
    }
    const listing = /^\/api\/models\/(\w+)\/(\d+)\/revision\/main$/.exec(pathname);
    if (listing) {
      const size = Number(listing[2]);
      return void response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({
        sha: COMMIT,
        siblings: [
          { rfilename: "config.json", size: CONFIG.length, blobId: COMMIT },
          { rfilename: "model.safetensors", size: size * BLOCK, lfs: { sha256: hashOf(size), size: size * BLOCK } },
        ],
      }));
    }
    if (pathname.endsWith("/config.json")) return void response.writeHead(200).end(CONFIG);
    const weights = /^\/(\w+)\/(\d+)(\/resolve\/\w+\/model\.safetensors|\.gguf)$/.exec(pathname);
    if (weights) return void file(request, response, weights[1]!, Number(weights[2])).catch(() => response.destroy());
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
