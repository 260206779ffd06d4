// The Worker: the module, the sources of models and a session that the page talks to.
import { TokamakError } from "./errors.ts";
import { Module } from "./host/module.ts";
import { Notes, openNoteFile } from "./host/notes.ts";
import { chooseWaiting } from "./host/waiting.ts";
import { storesOf } from "./memories.ts";
import { resolve } from "./models/source.ts";
import type { ToPage, ToWorker } from "./protocol.ts";
import { Session } from "./session.ts";
import type { StartOptions } from "./session_host.ts";

const scope = globalThis as unknown as {
  postMessage(message: ToPage): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToWorker>) => void): void;
};

async function compiled(url: string): Promise<WebAssembly.Module> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch (error) {
    throw new TokamakError("network", `${url}: ${(error as Error).message}.`);
  }
  if (!response.ok) {
    throw new TokamakError("network", `${url}: the server answers ${response.status}.`);
  }
  // Servers that do not know the type application/wasm are common.
  const type = response.headers.get("content-type") ?? "";
  return type.startsWith("application/wasm")
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

async function start({ wasm, wait, event, play, device, tell }: StartOptions) {
  const waiting = chooseWaiting(wait);
  const twin = waiting.kind === "asyncify" ? wasm.replace(/\.wasm(?=$|[?#])/, ".asyncify.wasm") : wasm;
  const [module, file] = await Promise.all([compiled(twin), openNoteFile()]);
  const started = await Module.start(module, {
    waiting,
    notes: new Notes(file),
    event,
    play,
    device,
    tell,
  });
  return { module: started, waiting: waiting.kind };
}

/** A script of its own, for those who have memories. */
const stores = storesOf(async ({ sqlite, sqliteWasm }) => {
  const { load } = (await import(/* @vite-ignore */ sqlite)) as typeof import("./sqlite.ts");
  return load(sqliteWasm);
});

const session = new Session({ post: (message) => scope.postMessage(message), start, resolve, stores });
scope.addEventListener("message", ({ data }) => session.receive(data));
