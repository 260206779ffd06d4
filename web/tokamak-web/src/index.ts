// Language models in a browser tab: `open` starts a Worker with the engine and opens a model in it.
import type { Check, Engine, Look, LookOptions, MemoryFiles, OpenOptions } from "./api.ts";
import { Connection, type Opening } from "./connection.ts";
import { type Facts, WorkerEngine } from "./engine.ts";
import { TokamakError, isMoved } from "./errors.ts";
import type { PostedSource, Source } from "./models/types.ts";
import { checkNames } from "./options.ts";
import type { OpenCall, PostedOptions } from "./protocol.ts";
import { Share, type ShareHost } from "./share.ts";
import { type SubmitLadder, submitLadder } from "./submit_ladder.ts";
import { isWorker, scriptOf, workerOf } from "./start_worker.ts";

export type * from "./api.ts";
export { type ErrorCode, TokamakError } from "./errors.ts";
export { models } from "./models/stored.ts";
export type { Source, StoredModel } from "./models/types.ts";
export { talk } from "./talk.ts";
export { chatWithTools, toolResult } from "./tools.ts";
export { fitOf } from "./verdict.ts";
export { wavFile } from "./wav.ts";

// The files beside the built package. The build writes `new URL("./worker.js", import.meta.url)` in their
// place, which is what bundlers look for.
declare const TOKAMAK_WASM_URL: URL;
declare const TOKAMAK_WASM_TWIN_URL: URL;
declare const TOKAMAK_WHOLE_URL: URL;
declare const TOKAMAK_WHOLE_TWIN_URL: URL;
/** A hash of the built script. */
declare const TOKAMAK_BUILD: string;

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

/** A Worker that stops more often than this in ten minutes would go on doing so. */
const MOST_STOPS = 3;
const STOPS_MS = 600_000;

const NO_TIMES = { total: 0, compile: 0, upload: 0, test: 0 };

/** The modules: beside the package, or where the page has them. */
function modules(wasm: OpenOptions["wasm"]): Pick<PostedOptions, "wasm" | "whole" | "twins"> {
  if (wasm === undefined) {
    const [own, whole] = [absolute(TOKAMAK_WASM_URL), absolute(TOKAMAK_WHOLE_URL)];
    return { wasm: own, whole, twins: { [own]: absolute(TOKAMAK_WASM_TWIN_URL), [whole]: absolute(TOKAMAK_WHOLE_TWIN_URL) } };
  }
  const own = absolute(wasm);
  return { wasm: own, whole: own.replace(/\.wasm(?=$|[?#])/, "_whole.wasm") };
}

/** The addresses of SQLite's files. */
function filesOf(memory: MemoryFiles): { script: string; wasm: string } {
  const { script, wasm } = memory ?? {};
  if (script === undefined || wasm === undefined) {
    throw new TokamakError("usage", `The option memory is ${String(memory)}; it takes what "tokamak-web/memory" exports: import { memory } from "tokamak-web/memory".`);
  }
  return { script: absolute(script), wasm: absolute(wasm) };
}

interface Start {
  connection: Connection;
  /** The call's answer; the Worker is ended where it fails. */
  result: Promise<unknown>;
  opening: Opening;
}

function start(kind: OpenCall["kind"], source: Source, options: LookOptions, share?: Share): Start {
  checkNames(options);
  const { signal, worker, wasm, codec, memory, share: _share, onProgress, onNotice, onCheck: _, onEvict, ...rest } = options;
  const values: PostedOptions = {
    ...rest,
    ...modules(wasm),
    ...(codec !== undefined && { codec: posted(codec) }),
    ...(memory !== undefined && { memory: filesOf(memory) }),
  };
  const opening: Opening = {
    call: { kind, source: posted(source), options: values },
    part: (part) => {
      if (part.kind === "progress") onProgress?.(part.progress);
    },
  };
  const connection = new Connection(() => share?.start() ?? workerOf(worker), scriptOf(worker));
  connection.listener = {
    event: (name, text) => {
      if (name === "notice") onNotice?.(text);
    },
    ...(onEvict && { evict: onEvict }),
  };
  const { result } = connection.send(opening.call, opening.part, signal);
  const checked = result.catch((error: unknown) => {
    connection.end(new TokamakError("usage", "The model has not been opened."));
    throw error;
  });
  return { connection, result: checked, opening };
}

/** Cuts the work of the GPU smaller from now on, once for a device that several tabs have lost together. */
function lower({ code }: { code?: unknown }, ladder?: SubmitLadder, share?: Share): void {
  if (code === "device-lost" && (!share || share.isOwner)) ladder?.lower();
}

/** Has a Worker that stops replaced by another one, unless it was the page that made it, or it stops too often. */
function keepUp({ connection, opening }: Start, { worker }: LookOptions, ladder?: SubmitLadder, share?: Share): void {
  if (isWorker(worker)) return;
  const stops: number[] = [];
  connection.recover = (error) => {
    const now = performance.now();
    if (!isMoved(error)) stops.push(now);
    if (stops.filter((at) => at > now - STOPS_MS).length > MOST_STOPS) return null;
    lower(error, ladder, share);
    if (!ladder?.dispatches) return opening;
    const call = opening.call as OpenCall;
    return { ...opening, call: { ...call, options: { ...call.options, submitDispatches: ladder.dispatches } } };
  };
}

/** The ladder, where the work of the GPU is not cut as the page says; it may have to tell of the last start. */
async function climb({ backend, submitDispatches, alter, onNotice }: OpenOptions): Promise<SubmitLadder | undefined> {
  if (backend?.startsWith("cpu") || submitDispatches !== undefined || alter) return undefined; // a broken kernel proves nothing of the device
  const ladder = submitLadder();
  const { dispatches, isLowered } = await ladder.begin();
  if (isLowered) {
    onNotice?.(`The last start ended with its tab. The GPU gets its work in parts of ${dispatches} dispatches from now on.`);
  }
  return ladder;
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
 * Shows what a model becomes on this device, or on one that is assumed, without running it: its headers are read, no weights. Fails
 * as `open` does, and where the model does not run here.
 */
export async function look(source: Source, options: LookOptions = {}): Promise<Look> {
  const started = start("look", source, options);
  const { model, adapter } = (await started.result) as Pick<Facts, "model" | "adapter">;
  keepUp(started, options);
  return new WorkerEngine(started.connection, { model, adapter, loadTimes: NO_TIMES, pipelines: 0 });
}

/** The parts of the browser by which tabs share an engine; undefined where it lacks one of them. */
function shareHost(): ShareHost | undefined {
  const { navigator, BroadcastChannel: Channel } = globalThis;
  if (!navigator?.locks || typeof Channel === "undefined") return undefined;
  return { locks: navigator.locks, channel: (name) => new Channel(name), page: globalThis.document && globalThis, now: () => Date.now() };
}

/** The name of the engine that tabs have together: build, address, model and options. Undefined where each has its own. */
function shareName(source: Source, options: OpenOptions): string | undefined {
  const { share, worker, wasm, alter, codec, token: _, signal: _signal, onProgress, onNotice, onCheck, onEvict, ...rest } = options;
  const from = posted(source);
  if (!share || isWorker(worker) || alter || typeof from !== "string" || (codec !== undefined && typeof posted(codec) !== "string")) return undefined;
  const given = Object.entries({ ...rest, codec: codec && posted(codec) }).filter(([, value]) => value !== undefined);
  return `tokamak:engine ${JSON.stringify([TOKAMAK_BUILD, import.meta.url, scriptOf(worker), modules(wasm).wasm, from, given.sort()])}`;
}

/** Takes part in the engine of that name; undefined where the browser refuses. */
function entered(name: string, { worker }: OpenOptions, host: ShareHost): Promise<Share | undefined> {
  return Share.enter(name, () => workerOf(worker), scriptOf(worker), host).catch(() => undefined);
}

/** Has the page look at what the model takes, if it wants to; a Worker that it made is for the model itself. */
async function agree(source: Source, { onCheck, onProgress: _, worker, ...plain }: OpenOptions): Promise<void> {
  if (!onCheck) return;
  const found = await check(source, { ...plain, ...(worker !== undefined && !isWorker(worker) && { worker }) });
  if ((await onCheck(found)) === false) throw new TokamakError("cancelled", "The model was not opened after its check.");
}

/**
 * Opens a model: by its name on the hub, by the URL of its folder or its .gguf file, or from files of
 * the visitor's. Fails with a TokamakError; an aborted signal makes that `cancelled`.
 */
export async function open(source: Source, options: OpenOptions = {}): Promise<Engine> {
  checkNames(options);
  const host = shareHost();
  const name = host && shareName(source, options);
  // Another tab's engine takes nothing more of this device.
  if (!name || !(await Share.exists(name, host).catch(() => false))) await agree(source, options);
  const ladder = await climb(options);
  const submitDispatches = ladder?.dispatches;
  const share = name ? await entered(name, options, host) : undefined;
  /** A tab without the Worker cannot end by what happens in it. */
  const attempt = () => (share && !share.isOwner ? undefined : ladder?.attempt());
  const survived = attempt();
  let started: Start | undefined;
  try {
    started = start("open", source, { ...options, ...(submitDispatches && { submitDispatches }) }, share);
    const facts = (await started.result) as Facts;
    keepUp(started, options, ladder, share);
    return new WorkerEngine(started.connection, facts, attempt);
  } catch (error) {
    if (!started) share?.end(); // a connection leaves it by itself, and the Worker to others who wait for it
    lower(error as { code?: unknown }, ladder, share);
    throw error;
  } finally {
    survived?.();
  }
}
