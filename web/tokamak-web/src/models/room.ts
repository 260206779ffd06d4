// Room for a download: what the browser allows is asked first, other models go only with the visitor's consent.
import { TokamakError } from "../errors.ts";
import type { Cache } from "./cache.ts";
import type { StoredModel } from "./types.ts";

/** For the states and descriptions, and for what browsers count beside the bytes. */
const SPARE_BYTES = 4 << 20;

export type Room = "enough" | "too-little" | { evict: StoredModel[] };

/**
 * The fewest models, used longest ago first, that have to go for `needed` more bytes. `models` are sorted by
 * last use. A browser that tells no quota counts as one with enough: writing will tell.
 */
export function planRoom(
  needed: number,
  { quota, usage = 0 }: { quota?: number; usage?: number },
  models: readonly StoredModel[],
): Room {
  if (quota === undefined || needed === 0) return "enough";
  let missing = needed + SPARE_BYTES - (quota - usage);
  const evict: StoredModel[] = [];
  for (const model of models) {
    if (missing <= 0) break;
    evict.push(model);
    missing -= model.size;
  }
  if (missing > 0) return "too-little";
  return evict.length === 0 ? "enough" : { evict };
}

/** Makes room for `needed` bytes of the model `name`, or fails with the code quota. */
export async function makeRoom(
  cache: Cache,
  name: string,
  needed: number,
  onEvict: (models: StoredModel[]) => Promise<boolean>,
): Promise<void> {
  if (needed === 0) return;
  const estimate = await cache.storage.estimate();
  const others = (await cache.list()).filter((model) => model.name !== name);
  const room = planRoom(needed, estimate, others);
  if (room === "enough") return;
  if (room === "too-little" || !(await onEvict(room.evict))) throw noRoom(name, needed, estimate);
  for (const model of room.evict) await cache.remove(model.name);
  const after = await cache.storage.estimate();
  if (planRoom(needed, after, []) !== "enough") throw noRoom(name, needed, after);
}

/**
 * Makes room once the browser has refused to store more, whatever it says of its quota: some tell every site the same
 * number. Fails with the code quota where that cannot be.
 */
export async function makeMoreRoom(
  cache: Cache,
  name: string,
  needed: number,
  onEvict: (models: StoredModel[]) => Promise<boolean>,
): Promise<void> {
  const others = (await cache.list()).filter((model) => model.name !== name);
  const room = planRoom(needed, { quota: 0 }, others);
  if (typeof room !== "object" || !(await onEvict(room.evict))) throw noRoom(name, needed, await cache.storage.estimate());
  const gone = await Promise.all(room.evict.map((model) => cache.remove(model.name)));
  if (!gone.includes(true)) throw noRoom(name, needed, await cache.storage.estimate());
}

/** `needed`: bytes still to be stored. */
export function noRoom(
  name: string,
  needed: number,
  { quota = 0, usage = 0 }: { quota?: number; usage?: number },
): TokamakError {
  const free = Math.max(0, quota - usage);
  const room = free < needed
    ? `has room for ${free} only (${usage} of ${quota} are in use)`
    : `stores no more (${usage} are in use; it allows ${quota}, but the disk may be full)`;
  return new TokamakError("quota", `${name} needs ${needed} bytes more, but the browser ${room}. Remove other models, ` +
    'or open it with cache: "none", which reads it from the network each time.', { needed, free, quota, usage });
}
