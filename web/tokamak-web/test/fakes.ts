// The stand-ins for the module and for the Worker.
import type { StepReply, ToPage, ToWorker } from "../src/protocol.ts";
import { Connection, type Opening, type WorkerLike } from "../src/connection.ts";
import { TokamakError } from "../src/errors.ts";
import { Memory, utf8 } from "../src/host/memory.ts";
import { Files } from "../src/host/file.ts";
import { Sql } from "../src/host/sql.ts";
import { Module } from "../src/host/module.ts";
import type { Waiting } from "../src/host/waiting.ts";
import type { ModelFile, Resolve } from "../src/models/types.ts";
import { open } from "../src/index.ts";
import { Session } from "../src/session.ts";
import type { SessionModule, StartOptions } from "../src/session_host.ts";

/** Verbs of a fake module: what they give, or the error that they throw. */
export type Verbs = Record<string, (values: never, signal?: AbortSignal) => unknown>;

/** A module whose verbs are JavaScript, one call at a time. */
export class FakeModule implements SessionModule {
  readonly files = new Files();
  readonly sql = new Sql();
  readonly calls: { verb: string; values: object }[] = [];
  readonly #verbs: Verbs;
  #last: Promise<unknown> = Promise.resolve();

  constructor(verbs: Verbs) {
    this.#verbs = verbs;
  }

  call<Reply>(verb: string, values: object, signal?: AbortSignal): Promise<Reply> {
    const turn = this.#last.then(async () => {
      this.calls.push({ verb, values });
      const run = this.#verbs[verb];
      if (!run) throw new Error(`The fake module has no verb ${verb}.`);
      return run(values as never, signal);
    });
    this.#last = turn.catch(() => {});
    return turn as Promise<Reply>;
  }
}

export const DEVICE = {
  backend: "webgpu",
  name: "fake GPU",
  driver: "",
  features: ["shader-f16"],
  limits: { maxBufferSize: 2 ** 28 },
  tier: 1,
  software: false,
};
export const FACTS = {
  model: { name: "fake", layers: 1 },
  defaults: { temperature: 0.7 },
  loadTimes: { total: 1 },
  pipelines: 3,
};

export const RUNS: Verbs = {
  adapter: () => DEVICE,
  needs_whole: () => ({ whole: false }),
  open: () => ({ ...FACTS, device: DEVICE }),
};

const FILE: ModelFile = { name: "config.json", size: 2, read: (_offset, into) => into.set(utf8("{}")) };
export const oneFile: Resolve = async () => ({ name: "fake", files: [FILE], close() {} });

export interface FakeWorker extends WorkerLike {
  readonly toPage: ToPage[];
  readonly toWorker: ToWorker[];
  start: StartOptions | null;
  terminated: boolean;
  /** Stops it with an error, as a browser does. */
  fail(message: string): void;
}

/** A Worker with a session and a fake module on this thread; messages are copied, as between threads. */
export function fakeWorker(module: SessionModule, resolve: Resolve = oneFile): FakeWorker {
  const listeners = new Map<string, (event: never) => void>();
  const emit = (type: string, event: object) => listeners.get(type)?.(event as never);
  const worker: FakeWorker = {
    toPage: [],
    toWorker: [],
    start: null,
    terminated: false,
    postMessage: (message) => {
      worker.toWorker.push(message);
      const data = structuredClone(message);
      setTimeout(() => worker.terminated || session.receive(data));
    },
    terminate: () => {
      worker.terminated = true;
    },
    addEventListener: (type: string, listener: (event: never) => void) => {
      listeners.set(type, listener);
    },
    fail: (message) => emit("error", { message }),
  };
  const session = new Session({
    post: (message) => {
      worker.toPage.push(message);
      const data = structuredClone(message);
      setTimeout(() => worker.terminated || emit("message", { data }));
    },
    start: async (options) => {
      worker.start = options;
      return { module, waiting: "jspi" };
    },
    resolve,
    stores: (_sql, _places, _signal, use) => use(),
  });
  return worker;
}

export function connected(verbs: Verbs) {
  const module = new FakeModule({ ...RUNS, ...verbs });
  const worker = fakeWorker(module);
  return { module, worker, connection: new Connection(() => worker) };
}

export const WASM = "https://x.invalid/tokamak_web.wasm";

/** An engine over a fake module. */
export async function opened(verbs: Verbs) {
  const module = new FakeModule({ ...RUNS, ...verbs });
  const worker = fakeWorker(module);
  const engine = await open("https://x.invalid/m/", { worker: worker as never, wasm: WASM });
  return { engine, module, worker };
}

/** A way of waiting for exports that are JavaScript. */
export const plainWaiting: Waiting = {
  kind: "jspi",
  suspending: (wait) => wait as WebAssembly.ImportValue,
  attach: () => {},
  promising: (run) => async (...values) => run(...values),
};

/** A Module over exports that are JavaScript: `answer` gets verb and JSON, gives status and reply. */
export function moduleOver(
  answer: (verb: string, json: string, signal: () => boolean) => Promise<[number, string]>,
) {
  const memory = new Memory();
  const current: { signal: AbortSignal | undefined } = { signal: undefined };
  const buffer = new ArrayBuffer(65536);
  let top = 8;
  let reply: [address: number, bytes: number] = [0, 0];
  const allocated = new Set<number>();
  const limits = { bytes: 1 << 30 }; // of one allocation
  const exports = {
    memory: { buffer } as WebAssembly.Memory,
    _initialize: () => {},
    tokamak_memory: (bytes: number) => {
      if (bytes > limits.bytes) return 0;
      const address = top;
      top += bytes + 8;
      allocated.add(address);
      return address;
    },
    tokamak_free: (address: number) => void allocated.delete(address),
    tokamak_call: (async (...[verb = 0, verbBytes = 0, json = 0, bytes = 0]: number[]) => {
      const asked = () => current.signal?.aborted ?? false;
      const [status, text] = await answer(memory.text(verb, verbBytes), memory.text(json, bytes), asked);
      const written = utf8(text);
      memory.bytes(32768, written.length).set(written);
      reply = [32768, written.length];
      return status;
    }) as unknown as (...values: number[]) => number,
    tokamak_reply: () => reply[0],
    tokamak_reply_bytes: () => reply[1],
  };
  const module = new Module(exports, { memory, files: new Files(), sql: new Sql(), waiting: plainWaiting, current });
  return { module, allocated, limits };
}

export const soon = (ms = 5) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The call that opens a fake model. */
export const OPENING: Opening = { call: { kind: "open", source: "/m/", options: { wasm: WASM, whole: "" } }, part: () => {} };

/** Texts of the tokens `token(seed, index)`, one a step. `stopAt`: before that step the module traps. */
export function writer(token: (seed: number, index: number) => number, stopAt = Infinity): Verbs {
  const active = new Map<number, { seed: number; given: number; most: number; cancelled: boolean }>();
  let steps = 0;
  let request = 0;
  return {
    tokenize: () => ({ ids: [7] }),
    generate: ({ seed, maxTokens }: { seed: number; maxTokens: number }) => {
      request += 1;
      active.set(request, { seed, given: 0, most: maxTokens, cancelled: false });
      return { request };
    },
    cancel: ({ request }: { request: number }) => {
      active.get(request)!.cancelled = true;
      return {};
    },
    step: async (): Promise<StepReply> => {
      await soon(1);
      steps += 1;
      if (steps === stopAt) throw new TokamakError("crashed", "The engine has stopped: unreachable.");
      const events: StepReply["events"] = [];
      for (const [request, run] of active) {
        if (run.cancelled || run.given === run.most) {
          const finish = run.cancelled ? "cancelled" : "length";
          events.push({ request, done: { finish, tokens: run.given, seed: run.seed } as never });
          active.delete(request);
          continue;
        }
        const id = token(run.seed, run.given);
        run.given += 1;
        events.push({ request, text: `${id} `, ids: [id], logprobs: [{ id, logprob: -1, top: [] }] });
      }
      return { more: active.size > 0, events };
    },
  };
}

export const bySeed = (seed: number, index: number) => (seed % 1000) * 100 + index;
