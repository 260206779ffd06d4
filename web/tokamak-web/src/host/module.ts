// The engine as a WebAssembly module. It has one stack: a call that suspends must have returned before
// the next one begins, so that calls wait for their turn. It computes on the thread it is called on and
// belongs in a Worker.
import type { KernelChange } from "../api.ts";
import { type ErrorData, TokamakError, errorFrom } from "../errors.ts";
import { deflateImports } from "./deflate.ts";
import { Files } from "./file.ts";
import { type DeviceWatch, gpuImports } from "./gpu.ts";
import { imageImports } from "./image.ts";
import { Memory, utf8 } from "./memory.ts";
import { Notes } from "./notes.ts";
import { Sql } from "./sql.ts";
import { textImports, unicodeImports } from "./text.ts";
import { type Export, type Waiting, chooseWaiting } from "./waiting.ts";
import { wasiImports } from "./wasi.ts";

export interface Host {
  gpu: GPU | undefined;
  waiting: Waiting;
  notes: Notes;
  /** Lines that the module writes to the console. */
  tell(line: string): void;
  /** The report of the module while a call runs. */
  event(kind: string, values: unknown): void;
  /** Samples of the sound with that number, which follow those before. */
  play(id: number, samples: Float32Array): void;
  device: DeviceWatch;
  alter?: KernelChange | undefined;
}

interface ModuleExports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  tokamak_memory(bytes: number): number;
  tokamak_free(address: number): void;
  tokamak_call: Export;
  tokamak_reply(): number;
  tokamak_reply_bytes(): number;
}

/** The imports of the module. */
export function hostImports(
  host: Host,
  memory: Memory,
  files: Files,
  sql: Sql,
  cancelled: () => boolean,
): Record<string, Record<string, WebAssembly.ImportValue>> {
  const gpu = gpuImports(host.gpu, memory, host.device, host.alter);
  return {
    gpu: { ...gpu.imports, wait: host.waiting.suspending((future = 0) => gpu.wait(future)) },
    file: files.imports(memory, host.waiting),
    image: imageImports(memory, host.waiting),
    deflate: deflateImports(memory, host.waiting),
    host: {
      ...host.notes.imports(memory),
      event: (kind: number, kindBytes: number, json: number, bytes: number) =>
        host.event(memory.text(kind, kindBytes), JSON.parse(memory.text(json, bytes))),
      play: (id: number, address: number, count: number) =>
        host.play(id, new Float32Array(memory.bytes(address, 4 * count).slice().buffer)),
      cancelled: () => Number(cancelled()),
    },
    sql: sql.imports(memory),
    text: textImports(memory),
    env: unicodeImports(),
    wasi_snapshot_preview1: wasiImports(memory, host.tell),
  };
}

interface Inside {
  memory: Memory;
  files: Files;
  sql: Sql;
  waiting: Waiting;
  /** The signal of the call that is in flight. */
  current: { signal: AbortSignal | undefined };
}

export class Module {
  readonly files: Files;
  readonly sql: Sql;
  readonly #exports: ModuleExports;
  readonly #memory: Memory;
  readonly #current: Inside["current"];
  readonly #suspending: (...values: number[]) => Promise<number>;
  #last: Promise<unknown> = Promise.resolve();
  #trap: TokamakError | null = null;

  /** Fails where the browser refuses the module or cannot suspend it. */
  static async start(compiled: WebAssembly.Module, given: Partial<Host> = {}): Promise<Module> {
    const host: Host = {
      gpu: globalThis.navigator?.gpu,
      waiting: given.waiting ?? chooseWaiting(),
      notes: given.notes ?? new Notes(),
      tell: (line) => console.log(line),
      event: () => {},
      play: () => {},
      device: { lost() {}, restored() {} },
      ...given,
    };
    const inside: Inside = {
      memory: new Memory(),
      files: new Files(),
      sql: new Sql(),
      waiting: host.waiting,
      current: { signal: undefined },
    };
    const cancelled = () => inside.current.signal?.aborted ?? false;
    const imports = hostImports(host, inside.memory, inside.files, inside.sql, cancelled);
    const { exports } = await WebAssembly.instantiate(compiled, imports);
    return new Module(exports as unknown as ModuleExports, inside);
  }

  constructor(exports: ModuleExports, { memory, files, sql, waiting, current }: Inside) {
    this.files = files;
    this.sql = sql;
    this.#exports = exports;
    this.#memory = memory;
    this.#current = current;
    memory.attach(exports.memory as { readonly buffer: ArrayBuffer });
    exports._initialize();
    waiting.attach(exports as unknown as WebAssembly.Exports);
    this.#suspending = waiting.promising(exports.tokamak_call);
  }

  /** Why nothing can be called any more. */
  get trap(): TokamakError | null {
    return this.#trap;
  }

  /**
   * Calls a verb once the calls before it have ended. Fails with the module's TokamakError; with
   * `out-of-memory` where the module has no room for the values, which ends this call only; with `cancelled` where the signal has ended it, before its turn or when the module asks; with `crashed`
   * after a trap, and from then on always.
   */
  call<Reply>(verb: string, values: object, signal?: AbortSignal): Promise<Reply> {
    const turn = this.#last.then(() => this.#call(verb, values, signal));
    this.#last = turn.catch(() => {});
    return turn as Promise<Reply>;
  }

  async #call(verb: string, values: object, signal: AbortSignal | undefined): Promise<unknown> {
    if (this.#trap) throw this.#trap;
    if (signal?.aborted) throw new TokamakError("cancelled", `${verb} was cancelled.`);
    this.#current.signal = signal;
    let status = 0;
    let reply = "";
    const given = this.#put(verb, [utf8(verb), utf8(JSON.stringify(values))]);
    try {
      status = await this.#suspending(...given.flat());
      reply = this.#memory.text(this.#exports.tokamak_reply(), this.#exports.tokamak_reply_bytes());
      for (const [address] of given) this.#exports.tokamak_free(address);
    } catch (error) {
      throw this.#trapped(error);
    }
    if (status < 0) throw errorFrom(JSON.parse(reply) as ErrorData);
    return JSON.parse(reply || "{}");
  }

  /** Copies texts into the module's memory: all of them, or none. */
  #put(verb: string, texts: Uint8Array[]): [address: number, bytes: number][] {
    const places: [address: number, bytes: number][] = [];
    for (const { length } of texts) {
      const address = this.#exports.tokamak_memory(length);
      if (address === 0) {
        for (const [other] of places) this.#exports.tokamak_free(other);
        throw new TokamakError("out-of-memory", `${verb}: the module has no memory for ${length} bytes of values.`);
      }
      places.push([address, length]);
    }
    // Allocating may have moved the memory; from here on it stays.
    texts.forEach((text, i) => this.#memory.bytes(...places[i]!).set(text));
    return places;
  }

  /** The error of a call that trapped: the module's memory is left in the middle of things, so there is no next one. */
  #trapped(error: unknown): TokamakError {
    const reason = error instanceof Error ? error.message : String(error);
    this.#trap = new TokamakError("crashed", `The engine has stopped: ${reason}.`);
    return this.#trap;
  }
}
