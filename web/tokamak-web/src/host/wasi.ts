// The few functions of WASI that the C library calls: a clock, and lines of text to the console.
import type { Memory } from "./memory.ts";

const BAD_FILE = 8; // errno badf

/** `tell` receives each line that the module writes. */
export function wasiImports(memory: Memory, tell: (line: string) => void) {
  let line = "";
  return {
    fd_write: (_file: number, pieces: number, count: number, written: number) => {
      let total = 0;
      for (let i = 0; i < count; i += 1) {
        const [address = 0, bytes = 0] = memory.numbers(pieces + 8 * i, 2);
        line += memory.text(address, bytes);
        total += bytes;
      }
      memory.numbers(written, 1)[0] = total;
      const lines = line.split("\n");
      line = lines.pop() ?? "";
      lines.forEach((whole) => tell(whole));
      return 0;
    },
    fd_close: () => BAD_FILE,
    fd_seek: () => BAD_FILE,
    clock_time_get: (clock: number, _precision: bigint, out: number) => {
      // Clock 0 is the time of day, the others only ever go on.
      const milliseconds = clock === 0 ? Date.now() : performance.now();
      memory.view().setBigUint64(out >>> 0, BigInt(Math.round(milliseconds * 1e6)), true);
      return 0;
    },
    environ_sizes_get: (count: number, bytes: number) => {
      memory.numbers(count, 1)[0] = 0;
      memory.numbers(bytes, 1)[0] = 0;
      return 0;
    },
    environ_get: () => 0,
    proc_exit: (status: number) => {
      throw new Error(`The module has ended itself with status ${status}.`);
    },
  };
}
