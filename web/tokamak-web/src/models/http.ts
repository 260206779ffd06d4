// Requests for files: statuses become sentences that say what to do, what may pass is tried again.
import { TokamakError } from "../errors.ts";
import type { Span } from "./parts.ts";

/** Before the second try and those after it, on average. */
export const WAITS_MS: readonly number[] = [1000, 4000, 16_000];
const LONGEST_WAIT_MS = 60_000; // of a server's Retry-After
const PIECE_BYTES = 256 << 10;
const STALL_MS = 30_000; // without a byte

/** The functions of a browser that tests replace. */
export interface Network {
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** False only where the browser is sure. */
  isOnline(): boolean;
  /** From 0 up to 1. */
  random(): number;
  /** Before each try but the first. */
  waitsMs: readonly number[];
  /** Called before each pause, with a sentence. */
  onWait?(text: string): void;
}

export class NetworkError extends TokamakError {
  /** Whether trying again may help. */
  readonly passes: boolean;
  readonly status: number | undefined;
  /** How long the server wants to be left alone. */
  readonly waitMs: number | undefined;

  constructor(message: string, passes: boolean, status?: number, waitMs?: number) {
    super("network", message, status === undefined ? undefined : { status });
    this.passes = passes;
    this.status = status;
    this.waitMs = waitMs;
  }
}

export interface Answer {
  body: ReadableStream<Uint8Array> | null;
  /** The whole file came where a part was asked for. */
  isWhole: boolean;
  /** Bytes of the whole file, where the server says so. */
  size: number | undefined;
  /** ETag, else the date; "" where the server tells neither, or not to other sites. */
  version: string;
}

export interface Request {
  url: string;
  /** For messages: "model.safetensors of org/name". */
  what: string;
  signal: AbortSignal;
  range?: Span;
  token?: string;
  /** Makes the server send the whole file if it is not this version any more. */
  version?: string;
}

/** Throws the signal's reason as "cancelled", so that every place that waits ends alike. */
export function throwIfCancelled(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const { reason } = signal as { reason: unknown };
  throw reason instanceof TokamakError ? reason : new TokamakError("cancelled", "Cancelled.");
}

/** Ends early, with what `throwIfCancelled` throws, when the signal does. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      try {
        throwIfCancelled(signal);
        resolve();
      } catch (error) {
        reject(error);
      }
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}

/**
 * Runs `work` until it succeeds, fails for good, or has failed once more than there are waits. `hasMoved` says whether some
 * bytes came since it was last asked: then the tries are counted from the beginning.
 */
export async function retry<T>(
  network: Network,
  signal: AbortSignal,
  work: () => Promise<T>,
  hasMoved: () => boolean = () => false,
): Promise<T> {
  for (let failures = 0; ; ) {
    throwIfCancelled(signal);
    try {
      return await work();
    } catch (error) {
      throwIfCancelled(signal);
      if (hasMoved()) failures = 0;
      if (!(error instanceof NetworkError && error.passes) || failures === network.waitsMs.length) throw error;
      // Tabs that were cut off together do not come back together.
      const pause = network.waitsMs[failures++]! * (0.75 + 0.5 * network.random());
      const wait = Math.max(pause, Math.min(error.waitMs ?? 0, LONGEST_WAIT_MS));
      network.onWait?.(`${error.message} It is tried again in ${Math.ceil(wait / 1000)} s.`);
      await sleep(wait, signal);
    }
  }
}

/** One request, without a second try. */
export async function get(network: Network, request: Request): Promise<Answer> {
  const { url, what, signal, range } = request;
  throwIfCancelled(signal);
  const headers = new Headers();
  // A range makes browsers ask for bytes as they are: a compressed answer has another length than the file.
  headers.set("Range", range ? `bytes=${range.begin}-${range.end - 1}` : "bytes=0-");
  if (request.token) headers.set("Authorization", `Bearer ${request.token}`);
  if (request.version) headers.set("If-Range", request.version);
  let response: Response;
  try {
    // The browser's own cache would hold the model a second time.
    response = await network.fetch(url, { headers, signal, cache: "no-store" });
  } catch (error) {
    throwIfCancelled(signal);
    throw broken(network, request, error);
  }
  if (!response.ok) {
    await response.body?.cancel().catch(() => undefined);
    throw refused(request, response);
  }
  if (/^(text\/html|application\/xhtml)/i.test(response.headers.get("Content-Type") ?? "")) {
    await response.body?.cancel().catch(() => undefined);
    throw new NetworkError(
      `${host(url)} answers with a web page (HTML) instead of ${what}. Is the address right, and does no ` +
        `login page stand before it? ${url}`, false, response.status);
  }
  const total = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "");
  if (total && Number(total[1]) !== (range?.begin ?? 0)) {
    await response.body?.cancel().catch(() => undefined);
    throw new NetworkError(`${host(url)} sends bytes from ${total[1]} of ${what}, asked for were those from ` +
      `${range?.begin ?? 0}.`, false, response.status);
  }
  const length = response.headers.get("Content-Length");
  const isWhole = response.status !== 206;
  const isEncoded = response.headers.has("Content-Encoding");
  // Other sites show Content-Range only when told to; the length of all bytes from the first one says the same.
  const isAll = (isWhole || !range) && !isEncoded;
  const size = total ? Number(total[2]) : length !== null && isAll ? Number(length) : undefined;
  const etag = response.headers.get("ETag");
  const version = (etag?.startsWith("W/") ? undefined : etag) ?? response.headers.get("Last-Modified") ?? "";
  return { body: response.body, isWhole, size, version };
}

/** The next bytes of an answer, until they are asked for again; undefined at its end. */
type Next = () => Promise<Uint8Array | undefined>;

/** Reads an answer; where the browser can, all bytes pass through the same memory, instead of garbage of its size. */
function reading(body: ReadableStream<Uint8Array>): { next: Next; cancel(): Promise<void> } {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    const plain = body.getReader();
    return { next: async () => (await plain.read()).value, cancel: () => plain.cancel() };
  }
  let buffer = new ArrayBuffer(PIECE_BYTES);
  const next = async () => {
    const { done, value } = await reader.read(new Uint8Array(buffer));
    if (done || !value) return undefined;
    buffer = value.buffer;
    return value;
  };
  return { next, cancel: () => reader.cancel() };
}

/**
 * The body's bytes as they come; each piece is valid until the next. Ends the transfer when the loop is left.
 */
export async function* pieces(network: Network, request: Request, answer: Answer): AsyncGenerator<Uint8Array> {
  if (!answer.body) return;
  const reader = reading(answer.body);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stalled = () => new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no byte came for ${STALL_MS / 1000} s`)), STALL_MS);
  });
  try {
    for (;;) {
      const piece = await Promise.race([reader.next(), stalled()]).finally(() => clearTimeout(timer));
      throwIfCancelled(request.signal);
      if (!piece) return;
      yield piece;
    }
  } catch (error) {
    throwIfCancelled(request.signal);
    // An error of the loop's body does not come here: a generator that is left runs `finally` only.
    throw broken(network, request, error);
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** A small file as a whole, tried again as usual. */
export async function getBytes(network: Network, request: Request, maxBytes: number): Promise<Uint8Array> {
  return retry(network, request.signal, async () => {
    const answer = await get(network, request);
    const got: Uint8Array[] = [];
    let size = 0;
    for await (const piece of pieces(network, request, answer)) {
      size += piece.length;
      if (size > maxBytes) {
        throw new NetworkError(`${request.what} has more than ${maxBytes} bytes; ${request.url}`, false);
      }
      got.push(piece.slice());
    }
    if (size < (request.range ? 0 : answer.size ?? 0)) {
      throw broken(network, request, new Error(`the answer ended after ${size} of ${answer.size} bytes`));
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const piece of got) bytes.set(piece, (at += piece.length) - piece.length);
    return bytes;
  });
}

export const host = (url: string) => new URL(url).host;

function broken(network: Network, { url, what }: Request, error: unknown): NetworkError {
  if (!network.isOnline()) {
    return new NetworkError(`This browser is offline, and not all of ${what} is stored. What is there is ` +
      "kept; open the model again when there is a connection.", true);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new NetworkError(`The connection to ${host(url)} failed for ${what} (${reason}). If it does so every ` +
    "time, the server may be down or may not allow this site to read its files (CORS).", true);
}

function refused({ url, what, token }: Request, { status, headers }: Response): NetworkError {
  const from = host(url);
  switch (status) {
    case 401:
      return new NetworkError(`${from} gives ${what} to nobody without ${token ? "a valid token" : "a token"} ` +
        "(401). Is the name right? A private model needs an access token: the option `token`.", false, status);
    case 403:
      return new NetworkError(`${from} does not allow access to ${what} (403). Accept the licence on the model's ` +
        "page and give a token of that account as the option `token`.", false, status);
    case 404:
      return new NetworkError(`${from} has no ${what} (404). Check the name, the revision and the address: ${url}`,
        false, status);
    case 416:
      return new NetworkError(`${what} on ${from} is shorter than it was (416); it has changed. Open it again.`,
        false, status);
    case 429: {
      const seconds = retryAfter(headers);
      return new NetworkError(`${from} has had too many requests from here (429). Wait ` +
        `${seconds === undefined ? "a few minutes" : `${seconds} s`} and open the model again: it goes on where ` +
        "it stopped.", true, status, (seconds ?? 0) * 1000);
    }
    default:
      return new NetworkError(`${from} answers ${what} with status ${status}.`, status === 408 || status >= 500,
        status, (retryAfter(headers) ?? 0) * 1000);
  }
}

function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("Retry-After");
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
