// Files of the visitor's: read in place, never copied, never as a whole.
import { TokamakError } from "../errors.ts";
import type { ModelFile, ResolvedModel } from "./types.ts";

const SLICE_BYTES = 4 << 20;
const LARGEST_FOLDER = 10_000; // files

/** Fills `into` from `offset`, a few MiB at a time. */
export async function readSlices(file: Blob, name: string, offset: number, into: Uint8Array): Promise<void> {
  for (let done = 0; done < into.length; ) {
    const count = Math.min(SLICE_BYTES, into.length - done);
    let bytes: ArrayBuffer;
    try {
      bytes = await file.slice(offset + done, offset + done + count).arrayBuffer();
    } catch (error) {
      throw new TokamakError("invalid-input", `${name} cannot be read any more (${String(error)}). Was it changed or ` +
        "moved? Choose it again.");
    }
    if (bytes.byteLength !== count) {
      throw new TokamakError("invalid-input", `${name} has ${file.size} bytes; ${into.length} from ${offset} were ` +
        "asked for.");
    }
    into.set(new Uint8Array(bytes), done);
    done += count;
  }
}

function modelFile(name: string, file: File): ModelFile {
  return { name, size: file.size, read: (offset, into) => readSlices(file, name, offset, into) };
}

/** A model of files that were chosen or dropped; in a folder that was chosen, those of its uppermost level. */
export function modelOfFiles(files: readonly File[]): ResolvedModel {
  if (files.length === 0) throw new TokamakError("usage", "No file was given; a model has at least one.");
  // "folder/name" for the files of <input webkitdirectory>, "" for others.
  const paths = files.map((file) => file.webkitRelativePath?.split("/") ?? [""]);
  const depth = Math.min(...paths.map((path) => path.length));
  const chosen = files.filter((_, i) => paths[i]!.length === depth);
  const folder = depth > 1 ? paths[0]![depth - 2] : undefined;
  const gguf = chosen.find(({ name }) => /\.gguf$/i.test(name));
  const found = chosen.map((file) => modelFile(file.name, file));
  return modelOf(folder ?? (gguf ?? chosen[0]!).name, found);
}

export async function modelOfFolder(folder: FileSystemDirectoryHandle): Promise<ResolvedModel> {
  const files: ModelFile[] = [];
  for await (const entry of folder.values()) {
    if (entry.kind === "file") files.push(modelFile(entry.name, await (entry as FileSystemFileHandle).getFile()));
    if (files.length > LARGEST_FOLDER) {
      throw new TokamakError("usage", `The folder ${folder.name} has more than ${LARGEST_FOLDER} files.`);
    }
  }
  return modelOf(folder.name, files);
}

function modelOf(name: string, files: ModelFile[]): ResolvedModel {
  if (!files.some((file) => file.name === "config.json" || /\.gguf$/i.test(file.name))) {
    const names = files.slice(0, 5).map((file) => file.name).join(", ");
    throw new TokamakError("invalid-input", "There is neither a config.json nor a .gguf file; found: " +
      `${names || "no files"}${files.length > 5 ? ` and ${files.length - 5} more` : ""}. A model is one .gguf file, or a ` +
      "folder with config.json, tokenizer.json and .safetensors files.");
  }
  const cachedBytes = files.reduce((sum, { size }) => sum + size, 0);
  return { name, files, complete: Promise.resolve(), cachedBytes, close: () => undefined };
}
