// Language models in a browser tab: `open` starts a Worker with the engine and opens a model in it.
import type { Check, Engine, Look, OpenOptions } from "./api.ts";
import { Connection, type WorkerLike } from "./connection.ts";
import { type Facts, WorkerEngine } from "./engine.ts";
import { TokamakError } from "./errors.ts";
import type { PostedSource, Source } from "./models/types.ts";
import type { PostedOptions } from "./protocol.ts";

export type * from "./api.ts";
export { type ErrorCode, TokamakError } from "./errors.ts";
export { models } from "./models/stored.ts";
export type { Source, StoredModel } from "./models/types.ts";

// The files beside the built package. The build writes `new URL("./worker.js", import.meta.url)` in their
// place, which is what bundlers look for.
declare const TOKAMAK_WORKER_URL: URL;
declare const TOKAMAK_WASM_URL: URL;

/** A URL cannot be posted, and a relative one means something else in the Worker. */
function posted(source: Source): PostedSource {
  if (source instanceof URL) return source.href;
  const isPath = typeof source === "string" && /^\.{0,2}\//.test(source);
  return isPath ? absolute(source) : source;
}

function absolute(url: URL | string): string {
  const base = globalThis.location?.href;
  if (!URL.canParse(url, base)) throw new TokamakError("usage", `"${url}" is no URL.`);
  return new URL(url, base).href;
}

function workerOf(worker: OpenOptions["worker"]): WorkerLike {
  if (worker !== undefined && typeof worker === "object" && !(worker instanceof URL)) {
    return worker as WorkerLike;
  }
  return worker === undefined ? new Worker(TOKAMAK_WORKER_URL) : new Worker(worker);
}

const NO_TIMES = { total: 0, compile: 0, upload: 0, test: 0 };

interface Start {
  connection: Connection;
  /** The call's answer; the Worker is ended where it fails. */
  result: Promise<unknown>;
}

function start(kind: "open" | "check" | "look", source: Source, options: OpenOptions): Start {
  const { signal, worker, wasm, onProgress, onNotice, onEvict, ...rest } = options;
  const module = wasm ?? TOKAMAK_WASM_URL;
  const values: PostedOptions = { ...rest, wasm: absolute(module) };
  const connection = new Connection(workerOf(worker));
  connection.listener = {
    event: (name, text) => {
      if (name === "notice") onNotice?.(text);
    },
    ...(onEvict && { evict: onEvict }),
  };
  const { result } = connection.send(
    { kind, source: posted(source), options: values },
    (part) => {
      if (part.kind === "progress") onProgress?.(part.progress);
    },
    signal,
  );
  const checked = result.catch((error: unknown) => {
    connection.end(new TokamakError("usage", "The model has not been opened."));
    throw error;
  });
  return { connection, result: checked };
}

/**
 * Says whether the model runs here and what it takes, by its headers alone: no weights are downloaded.
 * Fails as `open` does.
 */
export async function check(source: Source, options: OpenOptions = {}): Promise<Check> {
  const { connection, result } = start("check", source, options);
  const found = await result;
  connection.end(new TokamakError("usage", "The check has ended."));
  return found as Check;
}

/**
 * Shows what a model becomes on this device without running it: its headers are read, no weights. Fails
 * as `open` does, and where the model does not run here.
 */
export async function look(source: Source, options: OpenOptions = {}): Promise<Look> {
  const { connection, result } = start("look", source, options);
  const { model, adapter } = (await result) as Pick<Facts, "model" | "adapter">;
  return new WorkerEngine(connection, { model, adapter, loadTimes: NO_TIMES, pipelines: 0 });
}

/**
 * Opens a model: by its name on the hub, by the URL of its folder or its .gguf file, or from files of
 * the visitor's. Fails with a TokamakError; an aborted signal makes that `cancelled`.
 */
export async function open(source: Source, options: OpenOptions = {}): Promise<Engine> {
  const { connection, result } = start("open", source, options);
  return new WorkerEngine(connection, (await result) as Facts);
}
