// A request of the protocols of a server, and its answer with the frames that a server puts around parts.
import { addon, type FlowHandle, type ModelHandle } from "./addon.ts";
import type { Exchange } from "./api.ts";
import { TokamakError } from "./errors.ts";

interface Request {
  method: string;
  path: string;
  body: string;
}

/** Characters of a body above which the event loop does not wait until it is prepared. */
const LONG = 4096;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const ENDED_BY_A_MARK = /^\/v1\/(chat\/)?completions\b/;

/** An event of a stream. Those of some protocols have names, which their JSON has as its type. */
function eventOf(bytes: Uint8Array): Uint8Array {
  const text = decoder.decode(bytes);
  const { type } = JSON.parse(text) as { type?: string };
  return encoder.encode(`${type ? `event: ${type}\n` : ""}data: ${text}\n\n`);
}

function framed(contentType: string, bytes: Uint8Array): Uint8Array {
  if (contentType.startsWith("text/event-stream")) return eventOf(bytes);
  if (contentType.startsWith("application/x-ndjson")) return encoder.encode(`${decoder.decode(bytes)}\n`);
  return bytes;
}

function whole(status: number, answer: object): Exchange {
  const body = new Blob([JSON.stringify(answer)]).stream() as ReadableStream<Uint8Array>;
  return { status, contentType: "application/json", body };
}

/** The call of the library is a GET without a body, and else a POST. */
function refused({ method, path }: Request): Exchange | undefined {
  if (method === "GET" || method === "POST") return undefined;
  const message = `${method} ${path} is not answered, but GET and POST.`;
  return whole(405, { error: { message, type: "invalid_request_error", param: null, code: null } });
}

class Answer {
  readonly begun: Promise<Exchange>;
  #begin!: (exchange: Exchange) => void;
  #fail!: (error: unknown) => void;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #flow: FlowHandle | undefined;
  readonly #path: string;
  #isMarked = false;

  constructor(path: string) {
    this.#path = path;
    this.begun = new Promise((resolve, reject) => {
      this.#begin = resolve;
      this.#fail = reject;
    });
    // It may fail before anybody waits for it.
    this.begun.catch(() => {});
  }

  set flow(flow: FlowHandle) {
    this.#flow = flow;
  }

  cancel(): void {
    if (this.#flow) addon().cancel(this.#flow);
  }

  part(status: number, contentType: string, bytes: Uint8Array): void {
    if (!this.#stream) {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#stream = controller;
        },
        cancel: () => {
          this.#stream = undefined;
          this.cancel();
        },
      });
      this.#isMarked = contentType.startsWith("text/event-stream") && ENDED_BY_A_MARK.test(this.#path);
      this.#begin({ status, contentType, body });
    }
    this.#stream?.enqueue(framed(contentType, bytes));
  }

  end(): void {
    if (this.#isMarked) this.#stream?.enqueue(encoder.encode("data: [DONE]\n\n"));
    this.#stream?.close();
    this.#fail(new TokamakError("cancelled", "The request was cancelled before its answer began."));
  }

  fail(error: unknown): void {
    this.#stream?.error(error);
    this.#fail(error);
  }
}

/** The answer of the library's service. A signal ends it: what is read of it then fails as cancelled. */
export async function exchange(model: ModelHandle, request: Request, signal?: AbortSignal): Promise<Exchange> {
  const answer = refused(request);
  if (answer) return answer;
  const cancelled = () => new TokamakError("cancelled", "The request was cancelled by its signal.");
  if (signal?.aborted) throw cancelled();
  const { method, path, body } = request;
  const parts = new Answer(path);
  let isAborted = false;
  const onAbort = () => {
    isAborted = true;
    parts.cancel();
    parts.fail(cancelled());
  };
  const onEnd = () => {
    signal?.removeEventListener("abort", onAbort);
    if (!isAborted) parts.end();
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  // A POST without a body is still one.
  const sent = method === "GET" ? "" : body || " ";
  try {
    const begun = addon().call(model, path, sent, (part) => !isAborted && parts.part(...part), onEnd, sent.length > LONG);
    parts.flow = begun instanceof Promise ? await begun : begun;
  } catch (error) {
    signal?.removeEventListener("abort", onAbort);
    throw error;
  }
  if (isAborted) parts.cancel();
  return parts.begun;
}
