// The module's memory as texts and bytes. Every view is made where it is used: one that is kept is
// empty once the memory has grown.

// A byte-order mark is part of a text like any other character.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

export class Memory {
  #memory = null;

  /** To be called once, before the module runs. */
  attach(memory) {
    this.#memory = memory;
  }

  bytes(address, count) {
    return new Uint8Array(this.#memory.buffer, address >>> 0, count >>> 0);
  }

  numbers(address, count) {
    return new Uint32Array(this.#memory.buffer, address >>> 0, count >>> 0);
  }

  doubles(address, count) {
    return new Float64Array(this.#memory.buffer, address >>> 0, count >>> 0);
  }

  view() {
    return new DataView(this.#memory.buffer);
  }

  text(address, count) {
    return decoder.decode(this.bytes(address, count));
  }

  /** Writes what fits of the text, whole characters; the number of its bytes. */
  write(text, address, capacity) {
    return encoder.encodeInto(text, this.bytes(address, capacity)).written;
  }
}

export const utf8 = (text) => encoder.encode(text);
