// The engine as a WebAssembly module: loads it, hands files over, continues texts.
//
//   const engine = await Engine.start(await WebAssembly.compileStreaming(fetch("tokamak_web.wasm")));
//   await engine.addFile("config.json", size, stream);  // and the other files
//   await engine.open();
//   const { text, ids } = await engine.generate("Once upon a time", { maxTokens: 20 });
//
// The module computes on the thread that it is called on, so it belongs in a Worker. It has one
// stack: a call that suspends must have returned before the next one begins.
import { gpuImports } from "./gpu.js";
import { Memory, utf8 } from "./memory.js";
import { textImports, unicodeImports } from "./text.js";
import { wasiImports } from "./wasi.js";

/** What the module imports; `suspending` makes of a function with a promise one that suspends. */
export function hostImports({ gpu, memory, tell, suspending }) {
  const own = gpuImports(gpu, memory);
  return {
    gpu: { ...own, wait: suspending(own.wait) },
    text: textImports(memory),
    env: unicodeImports(),
    wasi_snapshot_preview1: wasiImports(memory, tell),
  };
}

export class Engine {
  #exports;
  #memory;
  #busy = false;
  #trap = null;

  static async start(module, { gpu = navigator.gpu, tell = console.log } = {}) {
    if (!WebAssembly.Suspending || !WebAssembly.promising) {
      throw new Error("This browser cannot suspend WebAssembly (JavaScript Promise Integration).");
    }
    const memory = new Memory();
    const suspending = (wait) => new WebAssembly.Suspending(wait);
    const imports = hostImports({ gpu, memory, tell, suspending });
    const { exports } = await WebAssembly.instantiate(module, imports);
    memory.attach(exports.memory);
    exports._initialize();
    const engine = new Engine();
    engine.#exports = exports;
    engine.#memory = memory;
    return engine;
  }

  /** A file of the model to open next; `pieces`: its bytes as any iterable of Uint8Array. */
  async addFile(name, size, pieces) {
    const start = this.#withText(name, (at, n) => this.#call("tokamak_file", at, n, size)) >>> 0;
    let at = 0;
    for await (const piece of pieces) {
      if (at + piece.length > size) throw new Error(`${name} is longer than ${size} bytes.`);
      this.#memory.bytes(start + at, piece.length).set(piece);
      at += piece.length;
    }
    if (at !== size) throw new Error(`${name} has ended after ${at} bytes, expected ${size}.`);
  }

  /** Opens the model; `cpu`: on the slow reference instead of the GPU. What it runs on. */
  async open({ cpu = false, context = 0 } = {}) {
    this.#check(await this.#suspending("tokamak_open", cpu ? 1 : 0, context));
    this.#call("tokamak_device");
    return this.#reply();
  }

  /**
   * Continues a text. temperature: as the model recommends unless given; signal: an AbortSignal,
   * which ends it with what there is.
   */
  async generate(
    prompt,
    { maxTokens = 128, temperature = -1, seed = 0, signal = null, onText = () => {} } = {},
  ) {
    this.#check(
      this.#withText(prompt, (at, n) =>
        this.#call("tokamak_start", at, n, maxTokens, temperature, seed),
      ),
    );
    let text = "";
    for (let more = 1; more; ) {
      if (signal?.aborted) this.#call("tokamak_cancel");
      more = this.#check(await this.#suspending("tokamak_step"));
      this.#call("tokamak_take_text");
      const piece = this.#reply();
      if (piece) onText(piece);
      text += piece;
    }
    const ids = this.#memory.numbers(this.#call("tokamak_ids"), this.#call("tokamak_id_count"));
    return { text, ids: Array.from(ids) };
  }

  #call(name, ...values) {
    this.#checkAlive();
    try {
      return this.#exports[name](...values);
    } catch (error) {
      throw this.#trapped(error);
    }
  }

  async #suspending(name, ...values) {
    this.#checkAlive();
    this.#busy = true;
    try {
      return await WebAssembly.promising(this.#exports[name])(...values);
    } catch (error) {
      throw this.#trapped(error);
    } finally {
      this.#busy = false;
    }
  }

  #checkAlive() {
    if (this.#busy) throw new Error("The engine is in the middle of another call.");
    if (this.#trap) throw new Error(`The engine has stopped: ${this.#trap.message}`);
  }

  /** What ends a call has left the module's memory in the middle of things: there is no next one. */
  #trapped(error) {
    this.#trap = error;
    return error;
  }

  /** An export's status, unless it says that there is an error. */
  #check(status) {
    if (status < 0) throw new Error(this.#reply());
    return status;
  }

  #reply() {
    const at = this.#call("tokamak_reply");
    return this.#memory.text(at, this.#call("tokamak_reply_bytes"));
  }

  #withText(text, call) {
    const bytes = utf8(text);
    const at = this.#call("tokamak_memory", bytes.length);
    this.#memory.bytes(at, bytes.length).set(bytes);
    try {
      return call(at, bytes.length);
    } finally {
      if (!this.#trap) this.#call("tokamak_free", at);
    }
  }
}
