// The Worker of models.spec.ts: src/models in a real browser, without the engine. The two verbs that it needs of the
// module are written out here.
import { errorData } from "../tokamak-web/src/errors.ts";
import { resolve } from "../tokamak-web/src/models/source.ts";
import { models } from "../tokamak-web/src/models/stored.ts";
import type { DownloadProgress, ResolvedModel } from "../tokamak-web/src/models/types.ts";
import { isRight } from "./noise.ts";

interface Listing {
  siblings: { rfilename: string; size: number; lfs?: { sha256: string } }[];
}

const hub = {
  async call(verb: string, values: object): Promise<unknown> {
    const { name, listing } = values as { name: string; listing: string };
    if (verb === "hub_name") return { repo: name, revision: "main", file: "" };
    const files = (JSON.parse(listing) as Listing).siblings.map(({ rfilename, size, lfs }) =>
      ({ path: rfilename, size, sha256: lfs?.sha256 ?? null }));
    return { files };
  },
};

let model: ResolvedModel | undefined;
let abort = new AbortController();
let progress: DownloadProgress[] = [];
let notices: string[] = [];
/** Models that were asked to go. */
let asked: string[] = [];
/** In place of the module's, which the engine reads into. */
const memory = new WebAssembly.Memory({ initial: 64 });

const commands = {
  /** `isBlind`: the browser does not tell how much it will store. `evicts`: others may go to make room. */
  async open({ source, cache = "opfs", isBlind = false, evicts = false }: { source: string; cache?: "opfs" | "none"; isBlind?: boolean; evicts?: boolean }) {
    if (isBlind) navigator.storage.estimate = async () => ({});
    abort = new AbortController();
    progress = [];
    notices = [];
    asked = [];
    model = await resolve(source, {
      module: hub,
      signal: abort.signal,
      cache,
      endpoint: location.origin,
      onProgress: (one) => progress.push(one),
      onNotice: (text) => notices.push(text),
      onEvict: async (models) => {
        asked = models.map(({ name }) => name);
        return evicts;
      },
    });
    return model.files.map(({ name, size }) => ({ name, size }));
  },
  complete: async () => (await model!.complete) ?? true,
  loaded: async () => progress.at(-1)?.loaded ?? 0,
  told: async () => ({ progress, notices, asked }),
  cancel: async () => abort.abort(),
  close: async () => (await model!.close()) ?? true,
  list: () => models.list(),
  clear: async () => (await models.clear()) ?? true,
  usage: () => models.usage(),
  damage: async () => {
    const root = await navigator.storage.getDirectory();
    const blobs = await (await root.getDirectoryHandle("tokamak")).getDirectoryHandle("blobs");
    let count = 0;
    for await (const name of (blobs as unknown as { keys(): AsyncIterable<string> }).keys()) {
      await blobs.removeEntry(name);
      ++count;
    }
    return count;
  },
  blobs: async () => {
    const root = await navigator.storage.getDirectory();
    const blobs = await (await root.getDirectoryHandle("tokamak")).getDirectoryHandle("blobs");
    const names: string[] = [];
    for await (const name of (blobs as unknown as { keys(): AsyncIterable<string> }).keys()) names.push(name);
    return names;
  },
  /** Reads the largest file once; whether it is right, or how fast it came in MB/s. */
  async read({ step, isTimed }: { step: number; isTimed?: boolean }) {
    const file = model!.files.toSorted((a, b) => b.size - a.size)[0]!;
    const began = performance.now();
    for (let at = 0; at < file.size; at += step) {
      const into = new Uint8Array(memory.buffer, 0, Math.min(step, file.size - at));
      const wait = file.read(at, into);
      if (wait) await wait;
      if (!isTimed && !isRight(into, at)) return false;
    }
    return isTimed ? file.size / 1000 / (performance.now() - began) : true;
  },
};

addEventListener("message", ({ data: { id, command, values } }) => {
  const run = commands[command as keyof typeof commands] as (values: object) => Promise<unknown>;
  run(values).then((result) => postMessage({ id, result }), (error) => postMessage({ id, error: errorData(error) }));
});
