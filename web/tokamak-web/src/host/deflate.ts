// The import "deflate": how much zlib makes of a text, which tells whether it repeats itself.
import type { Memory } from "./memory.ts";
import type { Waiting } from "./waiting.ts";

export function deflateImports(memory: Memory, waiting: Pick<Waiting, "suspending">) {
  return {
    bytes: waiting.suspending(async (address = 0, bytes = 0) => {
      const stream = new Blob([memory.bytes(address, bytes)]).stream().pipeThrough(new CompressionStream("deflate"));
      return (await new Response(stream).arrayBuffer()).byteLength;
    }),
  };
}
