// The contents of the test server's files: every MiB is the same noise under its own number, so that a file of any
// size needs no memory and every byte out of place shows.

export const BLOCK = 1 << 20;

const noise = new Uint32Array(BLOCK / 4);
for (let i = 0, state = 1; i < noise.length; ++i) noise[i] = state = (Math.imul(state, 1664525) + 1013904223) >>> 0;

/** The MiB with that number. */
export function block(number: number): Uint8Array<ArrayBuffer> {
  const words = noise.slice();
  for (let i = 0; i < words.length; i += 1024) words[i] = number ^ i;
  return new Uint8Array(words.buffer);
}

/** Whether `bytes` are those from `offset`, both of whole MiB. */
export function isRight(bytes: Uint8Array, offset: number): boolean {
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const found = new Uint32Array(bytes.buffer, bytes.byteOffset + at, BLOCK / 4);
    const expected = new Uint32Array(block((offset + at) / BLOCK).buffer);
    for (let i = 0; i < found.length; ++i) {
      if (found[i] !== expected[i]) return false;
    }
  }
  return true;
}
