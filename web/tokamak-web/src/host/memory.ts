// The module's memory as texts and bytes. Every view is made where it is used: one that is kept is
// empty once the memory has grown.

// A byte-order mark is part of a text like any other character.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

export class Memory {
  #memory: { readonly buffer: ArrayBuffer } | null = null;

  /** To be called once, before the module runs. */
  attach(memory: { readonly buffer: ArrayBuffer }): void {
    this.#memory = memory;
  }

  get #buffer(): ArrayBuffer {
    if (!this.#memory) throw new Error("The module's memory is not there yet.");
    return this.#memory.buffer;
  }

  bytes(address: number, count: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#buffer, address >>> 0, count >>> 0);
  }

  numbers(address: number, count: number): Uint32Array<ArrayBuffer> {
    return new Uint32Array(this.#buffer, address >>> 0, count >>> 0);
  }

  doubles(address: number, count: number): Float64Array<ArrayBuffer> {
    return new Float64Array(this.#buffer, address >>> 0, count >>> 0);
  }

  view(): DataView {
    return new DataView(this.#buffer);
  }

  text(address: number, count: number): string {
    return decoder.decode(this.bytes(address, count));
  }

  /** Writes what fits of the text, whole characters; the number of its bytes. */
  write(text: string, address: number, capacity: number): number {
    return encoder.encodeInto(text, this.bytes(address, capacity)).written;
  }
}

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);
