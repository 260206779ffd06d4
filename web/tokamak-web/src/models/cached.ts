// A model in the cache: room first, then its files; their bytes may still come while they are read.
import { TokamakError } from "../errors.ts";
import { CachedFile } from "./blob.ts";
import { blobKey, type Cache, type KeptFile } from "./cache.ts";
import { downloadAll, type RemoteFileInfo } from "./download.ts";
import type { Description } from "./hub.ts";
import type { Network } from "./http.ts";
import { Meter } from "./meter.ts";
import { isFull } from "./opfs.ts";
import { makeMoreRoom, makeRoom, noRoom } from "./room.ts";
import type { ResolvedModel, ResolveOptions } from "./types.ts";

/** The files as they are stored; their blobs may be there or not. */
const keptFiles = (files: readonly RemoteFileInfo[]): Promise<KeptFile[]> =>
  Promise.all(files.map(async ({ token: _, ...file }) => ({ ...file, blob: await blobKey(file) })));

/** Bytes that are still to be stored. */
export async function missingBytes(cache: Cache, files: readonly RemoteFileInfo[]): Promise<number> {
  const counts = await Promise.all((await keptFiles(files)).map((file) => cache.missing(file)));
  return counts.reduce((sum, count) => sum + count, 0);
}

export async function openCached(
  cache: Cache,
  { name, title, revision, files }: Description,
  network: Network,
  { signal, onProgress, onEvict, onNotice }: ResolveOptions,
): Promise<ResolvedModel> {
  const kept = await keptFiles(files);
  const missing = () => missingBytes(cache, files);
  /** A full storage as the error that says so. What is stored stays: the next try needs less. */
  const explain = async (error: unknown) =>
    isFull(error) ? noRoom(title, await missing(), await cache.storage.estimate()) : error;

  const opened = new Map<string, CachedFile>(); // by key: two names may be of one blob
  const closeAll = () => opened.forEach((file) => file.close());
  const closed = new AbortController();
  try {
    await makeRoom(cache, name, await missing(), onEvict);
    await cache.keep({ format: 1, name, revision, lastUsed: Date.now(), files: kept });
    let isTold = false;
    const onWait = () => {
      if (!isTold) onNotice(`Another tab is bringing ${title}; this one waits for it.`);
      isTold = true;
    };
    for (const { blob } of kept.toSorted((a, b) => (a.blob < b.blob ? -1 : 1))) {
      if (opened.has(blob)) continue;
      const info = files[kept.findIndex((one) => one.blob === blob)]!;
      opened.set(blob, await CachedFile.open(cache, info, blob, signal, onWait));
    }
  } catch (error) {
    closeAll();
    throw await explain(error);
  }

  // Small files first: they say what the large ones are.
  const downloads = [...opened.values()].map(({ download }) => download).filter((one) => one !== undefined)
    .sort((a, b) => a.info.size - b.info.size);
  const all = [...opened.values()];
  const total = all.reduce((sum, { size }) => sum + size, 0);
  const loaded = () => all.reduce((sum, { size, download }) => sum + (download?.parts.total() ?? size), 0);
  const meter = new Meter(total, loaded, onProgress);
  const cachedBytes = loaded();
  meter.begin();
  const until = AbortSignal.any([signal, closed.signal]);
  const bring = async (): Promise<void> => {
    try {
      await downloadAll(downloads, network, until, ({ info }, phase) => meter.change(phase, info.name));
    } catch (error) {
      if (!isFull(error)) throw error;
      await makeMoreRoom(cache, name, await missing(), onEvict);
      await bring();
    }
  };
  const complete = bring()
    .then(
      () => downloads.length > 0 && meter.end(),
      async (error: unknown) => {
        const reason = await explain(error);
        downloads.forEach((download) => download.fail(reason));
        throw reason;
      },
    )
    .then(() => undefined);
  complete.catch(() => undefined); // reads fail with it; nobody has to wait for it

  return {
    name: title,
    files: kept.map(({ name: file, size, blob }) => ({
      name: file,
      size,
      read: (offset, into) => opened.get(blob)!.read(offset, into),
    })),
    complete,
    cachedBytes,
    close: async () => {
      closed.abort(new TokamakError("cancelled", `${title} has been closed.`));
      await complete.catch(() => undefined); // it saves how far it has come, through the handles
      closeAll();
    },
  };
}
