// The files of a model in a folder of the same site, read as a whole before it is opened.
import { TokamakError } from "../errors.ts";
import type { ModelFile, Resolve } from "./types.ts";

const NAMES = [
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "added_tokens.json",
  "chat_template.jinja",
  "model.safetensors",
];

export const resolve: Resolve = async (source, { signal, onProgress }) => {
  if (typeof source !== "string" || !/^(https?:|\/)/.test(source)) {
    throw new TokamakError("unsupported", "A model is the URL of a folder so far.");
  }
  const folder = source.replace(/\/*$/, "/");
  const files: ModelFile[] = [];
  let loaded = 0;
  for (const name of NAMES) {
    const response = await fetch(folder + name, { signal });
    if (!response.ok) continue;
    const bytes = new Uint8Array(await response.arrayBuffer());
    loaded += bytes.length;
    onProgress({ phase: "download", loaded, total: loaded, cached: false, file: name });
    const read = (offset: number, into: Uint8Array) => {
      into.set(bytes.subarray(offset, offset + into.length));
    };
    files.push({ name, size: bytes.length, read });
  }
  return { name: folder, files, close: () => {} };
};
