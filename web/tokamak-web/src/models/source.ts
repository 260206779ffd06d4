// From what `open` was given to files that can be read, whatever kind it is.
import { TokamakError } from "../errors.ts";
import { Cache, type KeptModel } from "./cache.ts";
import { missingBytes, openCached } from "./cached.ts";
import { describeFolder, describeGguf, titleOf } from "./folder.ts";
import { describeRepo, type Description, type HubName, hubOf, nameText } from "./hub.ts";
import { type Network, throwIfCancelled, WAITS_MS } from "./http.ts";
import { modelOfFiles, modelOfFolder } from "./local.ts";
import type { Locks, Storage } from "./opfs.ts";
import { ReadAhead, RemoteFile } from "./remote.ts";
import type { PostedSource, Resolve, ResolvedModel, ResolveOptions } from "./types.ts";

const ASK_MS = 5000; // whether a stored model is still the one of its server

/** The part of the browser that `resolve` needs. */
export interface Surroundings {
  network: Network;
  storage: Storage | undefined;
  locks: Locks | undefined;
  /** The base of an address without a host. */
  base: string;
}

export type Place = { kind: "hub"; text: string } | { kind: "folder" | "gguf"; url: URL };

/** The place that a text points to. */
export function placeOf(text: string, base: string): Place {
  const trimmed = text.trim();
  if (/^(https?:\/\/)?(www\.)?(huggingface\.co|hf\.co)\//i.test(trimmed)) return { kind: "hub", text: trimmed };
  if (!/^([a-z][a-z0-9+.-]*:\/\/|\.{0,2}\/)/i.test(trimmed)) return { kind: "hub", text: trimmed };
  let url: URL;
  try {
    url = new URL(trimmed, base);
  } catch {
    throw new TokamakError("usage", `"${text}" is no address.`);
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new TokamakError("usage", `"${text}": a model is read from http: and https: addresses only.`);
  }
  url.hash = "";
  if (/\.gguf$/i.test(url.pathname)) return { kind: "gguf", url };
  if (url.pathname.endsWith("/config.json")) url.pathname = url.pathname.slice(0, -"config.json".length);
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return { kind: "folder", url };
}

/** Errors: see `Resolve`. */
export async function resolveIn(
  { network: plain, storage, locks, base }: Surroundings,
  source: PostedSource,
  options: ResolveOptions,
): Promise<ResolvedModel> {
  const network: Network = { ...plain, onWait: (text) => options.onNotice(text) };
  const { signal, onProgress } = options;
  throwIfCancelled(signal);
  if (Array.isArray(source)) return modelOfFiles(source);
  if (typeof File !== "undefined" && source instanceof File) return modelOfFiles([source]);
  if (typeof source !== "string") return modelOfFolder(source as FileSystemDirectoryHandle);

  onProgress({ phase: "look-up", loaded: 0, total: 0, cached: false });
  const place = placeOf(source, base);
  const hub = hubOf(options.module);
  const name = place.kind === "hub" ? await hub.name(place.text) : undefined;
  const cache = options.cache === "opfs" ? await Cache.open(storage, locks) : undefined;
  if (options.cache === "opfs" && !cache) {
    options.onNotice("This window keeps no files (a private window, or a page without https). The model is read " +
      "from the network piece by piece, and again the next time.");
  }
  const key = name ? storedName(name, options.endpoint) : (place as { url: URL }).url.href;
  const kept = await cache?.find(key);
  const isWhole = kept !== undefined && (await cache!.isComplete(kept));

  const describe = async (by: Network, until: AbortSignal): Promise<Description> => {
    if (place.kind === "hub") return { ...(await describeRepo(hub, name!, by, until, options)), name: key };
    return place.kind === "gguf" ? describeGguf(place.url, by, until) : describeFolder(place.url, by, until);
  };
  let description: Description;
  if (isWhole) {
    description = (await newerThan(place, network, options, describe)) ?? ofKept(kept, place, options.token);
  } else {
    // Nothing is in flight yet that a pause could save.
    description = await describe(network.isOnline() ? network : { ...network, waitsMs: [] }, signal);
  }
  const missing = cache ? await missingBytes(cache, description.files) : Infinity;
  if (cache && (!options.headersOnly || missing === 0)) return openCached(cache, description, network, options);
  const model = openRemote(description, network, options);
  const size = model.files.reduce((sum, file) => sum + file.size, 0);
  return { ...model, cachedBytes: Math.max(0, size - missing) };
}

/** The public hub's models by their names alone, as people write them. */
function storedName(name: HubName, endpoint: string | undefined): string {
  return endpoint ? `${endpoint.replace(/\/+$/, "")}/${nameText(name)}` : nameText(name);
}

/**
 * The model that a server has in place of one that is stored as a whole. A model of the hub is opened without a
 * request, and so it stays until it is removed. Addresses are requested: who builds a site changes its files. The
 * stored ones do where there is no answer.
 */
async function newerThan(
  place: Place,
  network: Network,
  { signal }: ResolveOptions,
  describe: (network: Network, signal: AbortSignal) => Promise<Description>,
): Promise<Description | undefined> {
  if (place.kind === "hub" || !network.isOnline()) return undefined;
  try {
    // One try, and a short one: the visitor waits for a model that is there.
    return await describe({ ...network, waitsMs: [] }, AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]));
  } catch {
    throwIfCancelled(signal);
    return undefined;
  }
}

function ofKept(kept: KeptModel, place: Place, token: string | undefined): Description {
  const title = place.kind === "hub" ? kept.name : titleOf(place.url);
  const files = kept.files.map(({ blob: _, ...file }) => ({ ...file, ...(token && { token }) }));
  return { name: kept.name, title, revision: kept.revision, files };
}

/** Reads from the network, piece by piece; of headers alone that is all there is to fetch. */
function openRemote(description: Description, network: Network, { signal, onProgress }: ResolveOptions): ResolvedModel {
  const closed = new AbortController();
  const total = description.files.reduce((sum, { size }) => sum + size, 0);
  let loaded = 0;
  const shared = new ReadAhead(network, AbortSignal.any([signal, closed.signal]), (count) => {
    loaded = Math.min(total, loaded + count);
    onProgress({ phase: "download", loaded, total, cached: false });
  });
  return {
    name: description.title,
    files: description.files.map((file) => new RemoteFile(file, shared)),
    complete: Promise.resolve(),
    close: () => {
      closed.abort(new TokamakError("cancelled", `${description.title} has been closed.`));
      shared.clear();
    },
  };
}

/** In this browser, from inside a Worker. */
export const resolve: Resolve = (source, options) =>
  resolveIn({
    network: {
      fetch: (url, init) => fetch(url, init),
      isOnline: () => navigator.onLine !== false,
      random: Math.random,
      waitsMs: WAITS_MS,
    },
    storage: navigator.storage as unknown as Storage | undefined,
    locks: navigator.locks as Locks | undefined,
    base: location.href,
  }, source, options);
