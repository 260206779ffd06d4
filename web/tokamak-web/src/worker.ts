// The Worker: the module, the sources of models and a session that the page talks to.
import { compiled } from "./host/compiled.ts";
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

async function start({ wasm, twins, wait, alter, event, play, device, tell }: StartOptions) {
  const waiting = chooseWaiting(wait);
  const url = waiting.kind === "asyncify" ? (twins?.[wasm] ?? wasm.replace(/\.wasm(?=$|[?#])/, ".asyncify.wasm")) : wasm;
  const [module, file] = await Promise.all([compiled(url), openNoteFile()]);
  const started = await Module.start(module, {
    waiting,
    // A verdict on a text that is not the kernel's own counts for this Worker alone.
    notes: alter ? new Notes() : new Notes(file),
    alter,
    event,
    play,
    device,
    tell,
  });
  return { module: started, waiting: waiting.kind };
}

/** A script of its own, for those who have memories. */
const stores = storesOf(async ({ script, wasm }) => {
  const { load } = (await import(/* @vite-ignore */ script)) as typeof import("./sqlite.ts");
  return load(wasm);
});

const session = new Session({ post: (message) => scope.postMessage(message), start, resolve, stores });
scope.addEventListener("message", ({ data }) => session.receive(data));
