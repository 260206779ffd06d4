// The models that are kept between visits, for the page: needs no Worker, as it only lists and removes.
import { TokamakError } from "../errors.ts";
import { Cache } from "./cache.ts";
import type { Locks, Storage } from "./opfs.ts";
import type { StoredModel } from "./types.ts";

const open = () =>
  Cache.open(navigator.storage as unknown as Storage | undefined, navigator.locks as Locks | undefined);

export const models = {
  /** Those used longest ago first; none where the browser keeps no files. */
  async list(): Promise<StoredModel[]> {
    return (await (await open())?.list()) ?? [];
  },

  /** Fails with "usage" while a tab has the model open. What is not stored counts as removed. */
  async remove(name: string): Promise<void> {
    if ((await (await open())?.remove(name)) === false) {
      throw new TokamakError("usage", `${name} is open in a tab; close it there first.`);
    }
  },

  /** Removes all models that no tab has open, and what is left of others. */
  async clear(): Promise<void> {
    await (await open())?.clear();
  },

  /** Bytes of everything that this site stores, and of what it may; 0 where the browser does not tell. */
  async usage(): Promise<{ used: number; quota: number; persisted: boolean }> {
    const { usage = 0, quota = 0 } = (await navigator.storage?.estimate?.()) ?? {};
    return { used: usage, quota, persisted: (await navigator.storage?.persisted?.()) ?? false };
  },

  /** Asks the browser never to remove them by itself; some ask the visitor, so it belongs to a click. */
  async persist(): Promise<boolean> {
    return (await navigator.storage?.persist?.()) ?? false;
  },
};
