// The Worker of a model: the package's own script, the page's, or one of another origin.
import type { OpenOptions } from "./api.ts";
import type { WorkerLike } from "./connection.ts";
import { TokamakError } from "./errors.ts";

declare const TOKAMAK_WORKER_URL: URL;
declare const TOKAMAK_WASM_URL: URL;

export function isWorker(worker: OpenOptions["worker"]): worker is Worker {
  return typeof worker === "object" && !(worker instanceof URL);
}

/**
 * The URL of the script that the Worker runs, where the package's files lie together. A bundler may have given it another name, of
 * which the package does not learn.
 */
export function scriptOf(worker: OpenOptions["worker"]): string {
  if (isWorker(worker)) return "the page's own script";
  return new URL(worker ?? new URL("worker.js", TOKAMAK_WASM_URL), globalThis.location?.href).href;
}

/**
 * A browser starts Workers by scripts of the page's own origin alone. One of another origin, such as a CDN's, is fetched by a
 * script of a line that is the page's.
 */
export function workerOf(worker: OpenOptions["worker"]): WorkerLike {
  if (isWorker(worker)) return worker as WorkerLike;
  if (typeof Worker === "undefined") {
    throw new TokamakError("unsupported", "There are no Workers here. tokamak-web runs in a browser's page: in an application that is rendered on a server, open the model in what runs in the browser alone.");
  }
  try {
    return worker === undefined ? new Worker(TOKAMAK_WORKER_URL) : new Worker(worker);
  } catch (error) {
    if ((error as { name?: string }).name !== "SecurityError") throw error;
    return fromElsewhere(scriptOf(worker));
  }
}

function fromElsewhere(url: string): Worker {
  const script = URL.createObjectURL(new Blob([`importScripts(${JSON.stringify(url)});`], { type: "text/javascript" }));
  try {
    return new Worker(script);
  } finally {
    // The Worker's own fetch of it has begun.
    setTimeout(() => URL.revokeObjectURL(script), 60_000);
  }
}
