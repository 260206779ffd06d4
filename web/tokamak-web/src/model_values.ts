// The values of a model for the module: its name, its files by number, and how it shall be opened.
import type { ModelFile, ResolvedModel } from "./models/types.ts";
import type { OpenCall, PostedOptions } from "./protocol.ts";
import type { SessionModule } from "./session_host.ts";

/** The values that the module's `open` and `check` take of a model. */
export function modelValues({ options }: OpenCall, module: SessionModule, found: ResolvedModel) {
  return { ...openValues(options), ...filesOf(module, found) };
}

/** A model by its name and its files, as the module's `codec` takes it. */
export function filesOf(module: SessionModule, { name, files }: ResolvedModel) {
  return { name, files: files.map((file) => given(module, file)) };
}

/** Whether it takes the whole module to open the model as asked; a model without a config.json does not see or hear. */
export async function needsWhole(
  module: SessionModule,
  { files }: ResolvedModel,
  { memory, megapixels }: PostedOptions,
): Promise<boolean> {
  if (memory) return true;
  const file = files.find(({ name }) => name === "config.json");
  if (!file) return false;
  const bytes = new Uint8Array(file.size);
  await file.read(0, bytes);
  const values = { config: new TextDecoder().decode(bytes), images: megapixels !== 0 };
  return (await module.call<{ whole: boolean }>("needs_whole", values)).whole;
}

/** A file's line in the module's list. */
function given(module: SessionModule, file: ModelFile) {
  const read = (offset: number, into: Uint8Array) => file.read(offset, into);
  return { name: file.name, size: file.size, id: module.files.add(read) };
}

/** The values that they take of the options. */
export function openValues({ wasm, whole, twins, memory, codec, alter, wait, cache, token, endpoint, ...values }: PostedOptions) {
  return values;
}
