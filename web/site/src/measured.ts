// The bandwidth that this browser's device has shown, by the pages that measure it. It is kept, since it bounds how fast any model writes:
// a token reads all of the weights.
import type { Adapter } from "tokamak-web";
import { keep, kept } from "./kept.ts";
import { figure } from "./numbers.ts";
import { placeOf } from "./opening.ts";

const KEY = "tokamak.bandwidth";
/** Smaller weights may lie in caches, which are faster than the memory. */
const LEAST_BYTES = 100e6;

interface Measured {
  place: string;
  bytesPerSecond: number;
}

/** Called with what was measured; 0 or NaN: nothing. */
export function keepBandwidth(adapter: Adapter, bytesPerSecond: number): void {
  if (bytesPerSecond > 0) keep(KEY, JSON.stringify({ place: placeOf(adapter), bytesPerSecond } satisfies Measured));
}

function measured(adapter?: Adapter): Measured | null {
  try {
    const found = JSON.parse(kept(KEY) ?? "null") as Measured | null;
    return adapter && found?.place !== placeOf(adapter) ? null : found;
  } catch {
    return null;
  }
}

/** "at most 67.2 tok/s on a GPU"; "" where no page has measured that device, or the weights are few. */
export function boundText(weightBytes: number, adapter?: Adapter): string {
  const found = measured(adapter);
  if (!found || weightBytes < LEAST_BYTES) return "";
  return `at most ${figure(found.bytesPerSecond / weightBytes)} tok/s on ${found.place}`;
}

export const isMeasured = (adapter?: Adapter): boolean => measured(adapter) !== null;
