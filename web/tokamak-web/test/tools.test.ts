// Chats with functions, over an exchange whose stream is cut anywhere.
import { expect, test } from "vitest";
import type { Exchange, Tool, ToolOptions, ToolPart } from "../src/api.ts";
import { TokamakError } from "../src/errors.ts";
import { chatWithTools, toolResult } from "../src/tools.ts";

const TIME: Tool = { type: "function", function: { name: "time", parameters: { type: "object", properties: { zone: { type: "string" } } } } };

const delta = (content: object, more: object = {}) => ({ choices: [{ delta: content, finish_reason: null, ...more }] });
const CALLED = [
  delta({ role: "assistant" }),
  delta({ reasoning_content: "Hm." }),
  delta({ content: "Let me " }),
  delta({ content: "see.\n\n" }),
  delta({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "time", arguments: "" } }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '{"zone":' } }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '"UTC"}' } }] }),
  delta({ tool_calls: [{ index: 1, id: "call_2", function: { name: "time", arguments: '{"zone": "Eu' } }] }),
  delta({}, { finish_reason: "tool_calls" }),
  { choices: [], usage: { prompt_tokens: 20, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } } },
];

/** An engine whose answer comes in pieces of some characters, and its requests. */
function engineOf(chunks: object[], { status = 200, size = 7 } = {}) {
  const text = status === 200 ? `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n` : JSON.stringify(chunks[0]);
  const requests: Record<string, unknown>[] = [];
  return {
    requests,
    exchange: async ({ body }: { body: string }, { signal }: { signal?: AbortSignal } = {}): Promise<Exchange> => {
      requests.push(JSON.parse(body));
      let at = 0;
      const stream = new ReadableStream<string>({
        pull: (controller) => {
          if (signal?.aborted) return controller.error(new TokamakError("cancelled", "The request was cancelled."));
          if (at >= text.length) return controller.close();
          controller.enqueue(text.slice(at, (at += size)));
        },
      }, { highWaterMark: 0 });
      return { status, contentType: "text/event-stream", body: stream };
    },
  };
}

test("reasoning, text and calls come apart, and a call that was cut is none", async () => {
  const engine = engineOf(CALLED);
  const options: ToolOptions = { tools: [TIME], maxTokens: 30, presencePenalty: 0.5, logitBias: { 7: -100 }, toolChoice: { name: "time" } };
  const run = chatWithTools(engine, [{ role: "user", content: "What time is it?" }], options);
  const parts: ToolPart[] = [];
  for await (const part of run) parts.push(part);
  const call = { id: "call_1", name: "time", arguments: { zone: "UTC" } };
  expect(parts).toEqual([
    { kind: "reasoning", text: "Hm." },
    { kind: "text", text: "Let me " },
    { kind: "text", text: "see.\n\n" },
    { kind: "call", call },
  ]);
  const answer = await run.result;
  const message = { role: "assistant", content: "Let me see.\n\n", tool_calls: [{ id: "call_1", type: "function", function: { name: "time", arguments: '{"zone":"UTC"}' } }] };
  expect(answer).toEqual({ text: "Let me see.\n\n", reasoning: "Hm.", calls: [call], finish: "calls", tokens: 9, promptTokens: 20, cachedTokens: 4, message });
  expect(toolResult(call, "12:00")).toEqual({ role: "tool", tool_call_id: "call_1", name: "time", content: "12:00" });
  expect(engine.requests).toEqual([{
    messages: [{ role: "user", content: "What time is it?" }],
    max_completion_tokens: 30, presence_penalty: 0.5, logit_bias: { 7: -100 }, tools: [TIME],
    tool_choice: { type: "function", function: { name: "time" } }, stream: true, stream_options: { include_usage: true },
  }]);
});

test("who leaves the loop, or aborts, has what there is", async () => {
  const left = chatWithTools(engineOf(CALLED), [], { tools: [TIME] });
  for await (const { kind } of left) if (kind === "text") break;
  expect(await left.result).toMatchObject({ text: "Let me ", calls: [], finish: "cancelled" });
  const abort = new AbortController();
  abort.abort();
  const aborted = chatWithTools(engineOf(CALLED), [], { tools: [TIME], signal: abort.signal });
  expect(await aborted.result).toMatchObject({ text: "", finish: "cancelled", message: { role: "assistant", content: "" } });
});

test("a refused request and a stream that fails are errors with their sentences", async () => {
  const refused = chatWithTools(engineOf([{ error: { message: "temperature is 9." } }], { status: 400 }), [], { tools: [TIME], temperature: 9 });
  await expect(refused.result).rejects.toMatchObject({ code: "usage", message: "temperature is 9." });
  const failing = chatWithTools(engineOf([CALLED[2]!, { error: { message: "The device is gone." } }]), [], { tools: [TIME] });
  const read = async () => {
    for await (const _ of failing); // to its end
  };
  await expect(read()).rejects.toThrow("The device is gone.");
  await expect(failing.result).rejects.toMatchObject({ code: "internal" });
});
