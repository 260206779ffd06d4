// The OpenAI-shaped API as a `fetch`, for clients that take one:
//
//   new OpenAI({ baseURL: "https://tokamak.invalid/v1", apiKey: "-", fetch: openaiFetch(engine) })
//
// Nothing is sent anywhere; the host name is never looked up.
import type { Engine } from "./api.ts";
import { answerRecording } from "./openai_recordings.ts";

/** The error of Node's own `fetch` with an aborted signal. */
function abortError(signal: AbortSignal): unknown {
  return signal.reason ?? new DOMException("The request was aborted.", "AbortError");
}

/** The body, which fails with the signal's reason once that is aborted. */
function abortable(body: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(signal.aborted ? abortError(signal) : error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/**
 * Answers requests by their path; errors of a request are answers with a status, as a server gives them.
 * Rejects with the signal's reason once that is aborted, and with a TokamakError where the engine is closed.
 */
export function openaiFetch(engine: Pick<Engine, "exchange" | "transcribe">): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { signal } = request;
    if (signal.aborted) throw abortError(signal);
    try {
      const recording = await answerRecording(engine, request);
      if (recording) return recording;
      const { pathname, search } = new URL(request.url);
      const asked = { method: request.method, path: pathname + search, body: await request.text() };
      const { status, contentType, body } = await engine.exchange(asked, { signal });
      return new Response(abortable(body, signal), { status, headers: { "content-type": contentType } });
    } catch (error) {
      throw signal.aborted ? abortError(signal) : error;
    }
  };
}
