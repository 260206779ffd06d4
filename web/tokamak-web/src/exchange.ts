// A request of the OpenAI-shaped API over the connection: the head as a promise, the body as a stream.
import type { Exchange } from "./api.ts";
import type { Connection } from "./connection.ts";
import { TokamakError } from "./errors.ts";

/** The promise settles with the head; the body fails with the error that ends the request. `ended` is called after either. */
export function openExchange(
  connection: Connection,
  request: { method: string; path: string; body: string },
  signal?: AbortSignal,
  ended: () => void = () => undefined,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    let body: ReadableStreamDefaultController<string>;
    let open = true;
    let isBegun = false;
    const stream = new ReadableStream<string>({
      start: (controller) => {
        body = controller;
      },
      cancel: () => {
        open = false;
        sent.cancel();
      },
    });
    const sent = connection.send(
      { kind: "openai", ...request },
      (part) => {
        isBegun = true;
        if (part.kind === "head") {
          resolve({ status: part.status, contentType: part.contentType, body: stream });
        } else if (part.kind === "body" && open) {
          body.enqueue(part.text);
        }
      },
      signal,
      () => !isBegun, // a second answer would have another id and other times
    );
    void sent.result.then(ended, ended);
    const fail = (error: unknown) => {
      reject(error);
      if (open) body.error(error);
      open = false;
    };
    sent.result.then(() => {
      if (signal?.aborted) {
        fail(new TokamakError("cancelled", "The request was cancelled."));
        return;
      }
      reject(new TokamakError("internal", "The engine has ended a request without an answer."));
      if (open) body.close();
      open = false;
    }, fail);
  });
}
