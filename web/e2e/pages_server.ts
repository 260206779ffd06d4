// The built site and a tiny model from one origin, as the site's content security policy asks.
import { copyFileSync, createReadStream, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const web = join(import.meta.dirname, "..");
const SITE = join(web, "site/dist");
export const DATA = join(web, "../tests/data");
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

/** Files of several models, put together to one that has a tokenizer and a template: "tiny/". */
const TINY: Record<string, string> = {
  "config.json": "models/qwen3_qknorm/config.json",
  "model.safetensors": "models/qwen3_qknorm/model.safetensors",
  "tokenizer.json": "tokenizers/gpt2/tokenizer.json",
  "tokenizer_config.json": "tokenizers/gpt2/tokenizer_config.json",
  "chat_template.jinja": "chat/chatml.jinja",
};

/**
 * "talking/": the same, but for a tokenizer without merges. Texts become bytes, whose ids the tiny model
 * knows, so that it can be talked to. Its own end of a text would be the quotation mark of that tokenizer.
 */
export const TALKING = join(web, "../build/web/talking");
/** "large/", where a test writes one. */
export const LARGE = join(web, "../build/web/large");

/**
 * "enduring/": the same, with no token that ends a text and room for an answer that a slow machine finds still running when it looks:
 * an answer of "talking/" may end after a few tokens, and its 2,048 positions are filled within four seconds.
 */
const ENDURING = join(web, "../build/web/enduring");

function writeTalking(): void {
  const read = <T>(name: string) => JSON.parse(readFileSync(join(DATA, TINY[name]!), "utf8")) as T;
  const tokenizer = read<{ model: { merges: unknown[] } }>("tokenizer.json");
  tokenizer.model.merges = [];
  const config = { ...read<object>("config.json"), eos_token_id: 0 };
  for (const [folder, own] of [[TALKING, config], [ENDURING, { ...config, eos_token_id: null, max_position_embeddings: 32_768 }]] as const) {
    mkdirSync(folder, { recursive: true });
    for (const [name, file] of Object.entries(TINY)) copyFileSync(join(DATA, file), join(folder, name));
    writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
    writeFileSync(join(folder, "config.json"), JSON.stringify(own));
  }
}

/**
 * "talkative/": the model that speaks, to which the end of a sound is so improbable that each piece of a text takes as long as one
 * may, time enough to interrupt it.
 */
const TALKATIVE = join(web, "../build/web/talkative");

function writeTalkative(): void {
  const folder = join(DATA, WITH_TOKENIZER["speaking"]!);
  const file = readFileSync(join(folder, "model.safetensors"));
  const length = Number(file.readBigUInt64LE());
  type Header = Record<string, { shape: number[]; data_offsets: [number, number] }>;
  const { shape, data_offsets } = (JSON.parse(file.toString("utf8", 8, 8 + length)) as Header)["model.embed_tokens.weight"]!;
  const [begin, end] = data_offsets;
  const row = (end - begin) / shape[0]!;
  const { eos_token_id: token } = JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as { eos_token_id: number };
  file.fill(0, 8 + length + begin + token * row, 8 + length + begin + (token + 1) * row);
  mkdirSync(TALKATIVE, { recursive: true });
  for (const name of ["config.json", "generation_config.json"]) copyFileSync(join(folder, name), join(TALKATIVE, name));
  copyFileSync(join(DATA, TOKENIZER), join(TALKATIVE, "tokenizer.json"));
  writeFileSync(join(TALKATIVE, "model.safetensors"), file);
}

/** "hearing/" and "speaking/": models that have a tokenizer, another one's. */
const WITH_TOKENIZER: Record<string, string> = { hearing: "speech/whisper", speaking: "speech/kani_tts2" };
const TOKENIZER = "vision/qwen3_5_vl_images/tokenizer.json";

export interface PagesServer {
  /** With a slash at its end. */
  readonly address: string;
  /** The paths that were answered, with the bytes of each answer. */
  readonly answers: { path: string; bytes: number }[];
  /** Texts in place of files; null: there is no such file any more. */
  readonly changed: Map<string, string | null>;
  /** The bodies that pages have posted. */
  readonly posted: string[];
  close(): void;
}

function fileOf(url: string): string {
  const path = normalize(decodeURIComponent(new URL(url, "http://localhost").pathname));
  if (path.startsWith("/tiny/")) return join(DATA, TINY[path.slice(6)] ?? "none");
  const [, name = "", file = ""] = /^\/(hearing|speaking)\/(.*)$/.exec(path) ?? [];
  if (name) return join(DATA, file === "tokenizer.json" ? TOKENIZER : `${WITH_TOKENIZER[name]}/${file}`);
  if (path.startsWith("/next/")) return join(SITE, path.slice(6)); // as another version of the site
  if (path.startsWith("/data/")) return join(DATA, path.slice(6));
  if (path.startsWith("/large/")) return join(LARGE, path.slice(7));
  if (path.startsWith("/talkative/")) return join(TALKATIVE, path.slice(11));
  if (path.startsWith("/talking/")) return join(TALKING, path.slice(9));
  if (path.startsWith("/enduring/")) return join(ENDURING, path.slice(10));
  if (path.startsWith("/package/")) return join(web, "tokamak-web/dist", path.slice(9));
  return join(SITE, path.endsWith("/") ? `${path}index.html` : path);
}

export async function serve(): Promise<PagesServer> {
  writeTalking();
  writeTalkative();
  const answers: PagesServer["answers"] = [];
  const changed: PagesServer["changed"] = new Map();
  const posted: string[] = [];
  const server = createServer((request, response) => {
    if (request.method === "POST") {
      let body = "";
      request.setEncoding("utf8").on("data", (part: string) => (body += part)).on("end", () => posted.push(body) && response.writeHead(204).end());
      return;
    }
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const other = changed.get(pathname);
    if (other !== undefined) {
      const type = TYPES[extname(pathname)] ?? "text/plain";
      response.writeHead(other === null ? 404 : 200, { "Content-Type": type, "Cache-Control": "no-store" }).end(other ?? "");
      return;
    }
    // The package may be on another origin than a page, as on a CDN, and a model on a hub: what is not there as well.
    if (/^\/(package|talking)\//.test(pathname)) response.setHeader("Access-Control-Allow-Origin", "*");
    const file = fileOf(request.url ?? "/");
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat?.isFile()) {
      response.writeHead(404).end();
      return;
    }
    const { size } = stat;
    const { range } = request.headers;
    const [, from = "0", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
    const start = Number(from);
    const end = Math.min(to ? Number(to) : size - 1, size - 1);
    response.writeHead(range ? 206 : 200, {
      "Content-Type": TYPES[extname(file)] ?? "application/octet-stream",
      "Content-Length": end - start + 1,
      "Accept-Ranges": "bytes",
      ...(range && { "Content-Range": `bytes ${start}-${end}/${size}` }),
    });
    answers.push({ path: pathname, bytes: request.method === "HEAD" ? 0 : end - start + 1 });
    if (request.method === "HEAD" || size === 0) response.end();
    else createReadStream(file, { start, end }).pipe(response);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}/`,
    answers,
    changed,
    posted,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
