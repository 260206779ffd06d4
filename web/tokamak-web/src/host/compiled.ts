// A WebAssembly module by its URL, compiled while it comes. A server that answers something else is told apart.
import { TokamakError } from "../errors.ts";

/** The first bytes of every WebAssembly module. */
const MAGIC = [0x00, 0x61, 0x73, 0x6d];

export async function compiled(url: string): Promise<WebAssembly.Module> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch (error) {
    throw new TokamakError("network", `${url}: ${(error as Error).message}.`);
  }
  if (!response.ok) {
    throw new TokamakError("network", `${url}: the server answers ${response.status}.`);
  }
  // Servers that do not know the type application/wasm are common; those that answer every unknown path with a web page, too.
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("application/wasm")) return WebAssembly.compileStreaming(response);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (MAGIC.every((byte, at) => bytes[at] === byte)) return WebAssembly.compile(bytes);
  const found = type.startsWith("text/html") ? "a web page" : `something else (${type || "without a type"})`;
  throw new TokamakError("network", `${url} is no WebAssembly module: the server has sent ${found}. Is the file where the package's other files are?`);
}
