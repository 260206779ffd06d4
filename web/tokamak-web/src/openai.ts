// The OpenAI-shaped API as a `fetch`, for clients that take one:
//
//   new OpenAI({ baseURL: "https://tokamak.invalid/v1", apiKey: "-", fetch: openaiFetch(engine) })
//
// Nothing is sent anywhere; the host name is never looked up.
import type { Engine } from "./api.ts";
import { answerSound } from "./openai_sound.ts";

/** The error of a browser's own `fetch` with an aborted signal. */
function abortError(signal: AbortSignal): unknown {
  return signal.reason ?? new DOMException("The request was aborted.", "AbortError");
}

/**
 * Answers requests by their path; errors of a request are answers with a status, as a server gives them.
 * Rejects with the signal's reason once that is aborted, and with a TokamakError where the engine has
 * ended.
 */
export function openaiFetch(engine: Pick<Engine, "exchange" | "transcribe" | "speak">): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { signal } = request;
    if (signal.aborted) throw abortError(signal);
    const { pathname, search } = new URL(request.url);
    try {
      const sound = await answerSound(engine, request);
      if (sound) return sound;
    } catch (error) {
      throw signal.aborted ? abortError(signal) : error;
    }
    const asked = { method: request.method, path: pathname + search, body: await request.text() };
    try {
      const { status, contentType, body } = await engine.exchange(asked, { signal });
      return new Response(encoded(body, signal), {
        status,
        headers: { "content-type": contentType },
      });
    } catch (error) {
      throw signal.aborted ? abortError(signal) : error;
    }
  };
}

/** The stream's text as bytes; cancelling it cancels the engine's. */
function encoded(body: ReadableStream<string>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        controller.error(signal.aborted ? abortError(signal) : error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
