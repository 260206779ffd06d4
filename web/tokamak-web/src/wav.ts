// Samples as whole numbers of 16 bits, little end first, and as a WAV file of which nobody knows how long it gets.

const HEADER_BYTES = 44;
const UNKNOWN = 0xffff_ffff;

function header(rate: number, bytes: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(HEADER_BYTES);
  const view = new DataView(out.buffer);
  const word = (at: number, text: string) => out.set(new TextEncoder().encode(text), at);
  word(0, "RIFF");
  view.setUint32(4, bytes === UNKNOWN ? UNKNOWN : bytes + HEADER_BYTES - 8, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true); // whole numbers
  view.setUint16(22, 1, true); // one channel
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, bytes, true);
  return out;
}

function wholeNumbers(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const out = new DataView(new ArrayBuffer(2 * samples.length));
  samples.forEach((sample, at) => out.setInt16(2 * at, Math.max(-32_768, Math.min(32_767, Math.round(32_768 * sample))), true));
  return new Uint8Array(out.buffer);
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(first.length + second.length);
  out.set(first);
  out.set(second, first.length);
  return out;
}

/** A stream of samples; `isFile`: with the header before the first. */
export class WavWriter {
  #hasHeader: boolean;

  constructor(isFile: boolean) {
    this.#hasHeader = !isFile;
  }

  add(samples: Float32Array, rate: number): Uint8Array<ArrayBuffer> {
    const bytes = wholeNumbers(samples);
    if (this.#hasHeader) return bytes;
    this.#hasHeader = true;
    return joined(header(rate, UNKNOWN), bytes);
  }
}

/** A whole file. */
export function wavFile(samples: Float32Array, rate: number): Blob {
  const bytes = wholeNumbers(samples);
  return new Blob([header(rate, bytes.length), bytes], { type: "audio/wav" });
}
