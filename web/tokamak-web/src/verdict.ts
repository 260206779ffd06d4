// Whether a model fits a device.
import type { Adapter, Check, ModelFacts } from "./api.ts";
import { type ErrorCode, TokamakError } from "./errors.ts";

const GIB = 1024 ** 3;
// A phone's browser ends a tab at some 1.5 GB, of which the page and the module take their part.
const SMALL_BUFFER = GIB;
const SMALL_BUDGET = 1.2e9;
const TIGHT = 0.8;
// The limits of web_memory_test.
const MODULE = 24e6, MODULE_PER_TOKENIZER = 2;

/** Errors that say that the model does not run here; any other is about the model or the way to it. */
const REFUSALS: readonly ErrorCode[] = ["unsupported", "out-of-memory", "device"];

export type DeviceReply = Omit<Adapter, "waiting">;

/** The reply of the module's `check` and `open`. */
export interface OpenReply {
  model: ModelFacts;
  device: DeviceReply;
}

/** The error of a model that does not run; throws any other. */
export function refusal(error: unknown): TokamakError {
  if (error instanceof TokamakError && REFUSALS.includes(error.code)) return error;
  throw error;
}

/** Whether a number of bytes has room on the device, by what the browser reports of it. */
export function fitOf(total: number, { limits }: Pick<Adapter, "limits">): "fits" | "tight" | "too-large" {
  const buffer = limits["maxBufferSize"] ?? Infinity;
  if (buffer > SMALL_BUFFER) return "fits"; // no browser says how much memory the device has
  if (total > SMALL_BUDGET) return "too-large";
  return total > TIGHT * SMALL_BUDGET ? "tight" : "fits";
}

/** `total`, `cached`, `room` (in the browser's storage) and the size of `tokenizer`.json are bytes. */
export function checkOf(
  outcome: OpenReply | TokamakError,
  adapter: Adapter,
  { total, cached, room, tokenizer }: { total: number; cached: number; room: number | undefined; tokenizer: number },
): Check {
  const bytes = {
    download: Math.max(0, total - cached),
    cached,
    module: MODULE + MODULE_PER_TOKENIZER * tokenizer,
    ...(room !== undefined && { quota: room }),
  };
  if (outcome instanceof TokamakError) {
    const verdict = outcome.code === "out-of-memory" ? "too-large" : "unsupported";
    return { runs: false, reason: outcome.message, verdict, ...bytes, adapter };
  }
  const { model } = outcome;
  return { runs: true, verdict: fitOf(model.memory.total + bytes.module, adapter), ...bytes, model, adapter };
}
