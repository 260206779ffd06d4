// A browser and a hub of one model, org/name, for the tests of src/models.
import { type Surroundings, resolveIn } from "../../src/models/source.ts";
import type { DownloadProgress, ResolvedModel, ResolveOptions, StoredModel } from "../../src/models/types.ts";
import { FakeLocks, FakeServer, FakeStorage, hashOf, noise } from "./fakes.ts";

export const PART = 1 << 20; // as the tests make it
const COMMIT = "0123456789abcdef0123456789abcdef01234567";
export const HUB = "https://hub.example";
export const usual = noise(2 * PART + 1000), WEIGHTS_HASH = hashOf(usual);
export const config = new TextEncoder().encode('{"model_type": "llama"}');

export function world(weights = usual) {
  const server = new FakeServer(), storage = new FakeStorage(), locks = new FakeLocks();
  const files = [
    { path: "config.json", bytes: config, sha256: null },
    { path: "model.safetensors", bytes: weights, sha256: weights === usual ? WEIGHTS_HASH : hashOf(weights) },
  ];
  const listing = `${HUB}/api/models/org/name/revision/main?blobs=true`;
  server.put(listing, new TextEncoder().encode(JSON.stringify({ sha: COMMIT, siblings: [] })));
  const at = (path: string) => `${HUB}/org/name/resolve/${COMMIT}/${path}`;
  for (const { path, bytes } of files) server.put(at(path), bytes, { etag: `"${path}"` });
  const progress: DownloadProgress[] = [], notices: string[] = [], asked: StoredModel[][] = [];
  const module = {
    call: async (verb: string, values: object) => {
      if (verb !== "hub_name") return { files: files.map(({ path, bytes, sha256 }) => ({ path, size: bytes.length, sha256 })) };
      const [, repo, revision = "main", file = ""] = /^([^@:]+)(?:@([^:]+))?(?::(.+))?$/.exec((values as { name: string }).name)!;
      return { repo, revision, file };
    },
  };
  const options = (more: Partial<ResolveOptions> = {}): ResolveOptions => ({
    module, signal: new AbortController().signal, cache: "opfs", endpoint: HUB,
    onProgress: (one) => progress.push(one), onNotice: (text) => notices.push(text),
    onEvict: async (models) => (asked.push(models), false), ...more,
  });
  const browser = (): Surroundings => ({ network: server.network(), storage, locks, base: "https://site.example/app/" });
  const open = (more?: Partial<ResolveOptions>, name = "org/name") => resolveIn(browser(), name, options(more));
  return { server, storage, locks, files, at, listing, progress, notices, asked, options, browser, open };
}

export async function bytesOf(model: ResolvedModel, name = "model.safetensors"): Promise<Uint8Array> {
  const file = model.files.find((one) => one.name === name)!;
  const all = new Uint8Array(file.size);
  for (let at = 0; at < file.size; at += 1 << 22) await file.read(at, all.subarray(at, at + (1 << 22)));
  return all;
}

export const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;
/** How often parts of the weights were asked for. */
export const ranges = ({ server, at }: ReturnType<typeof world>) =>
  server.requests.filter(({ url }) => url === at("model.safetensors")).map(({ range }) => range);

