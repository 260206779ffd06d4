// Chats with functions that the model may call: the OpenAI-shaped API, with its calls parsed and typed.
import type { Engine, Message, ToolAnswer, ToolCall, ToolOptions, ToolPart, ToolRun } from "./api.ts";
import { TokamakError } from "./errors.ts";
import { withWrittenImages } from "./images.ts";
import { Queue } from "./queue.ts";
import { answerMessage, callOf } from "./tool_calls.ts";

const NAMES = {
  maxTokens: "max_completion_tokens",
  temperature: "temperature",
  topK: "top_k",
  topP: "top_p",
  minP: "min_p",
  repetitionPenalty: "repetition_penalty",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  logitBias: "logit_bias",
  seed: "seed",
  stop: "stop",
  tools: "tools",
} as const;
const FINISH: Record<string, ToolAnswer["finish"]> = { stop: "end", tool_calls: "calls", length: "length" };

/** An event of the stream, as far as it is read. */
interface Chunk {
  error?: { message: string };
  choices?: {
    finish_reason?: string | null;
    delta?: {
      content?: string | null;
      reasoning_content?: string | null;
      tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[];
    };
  }[];
  usage?: { prompt_tokens: number; completion_tokens: number; prompt_tokens_details?: { cached_tokens?: number } } | null;
}

/** The message that gives a model what a call of its has given. */
export const toolResult = ({ id, name }: ToolCall, content: string): Message => ({ role: "tool", tool_call_id: id, name, content });

async function bodyOf(messages: Message[], { toolChoice, ...options }: Omit<ToolOptions, "signal">): Promise<string> {
  const named = Object.entries(NAMES).map(([name, theirs]) => [theirs, options[name as keyof typeof NAMES]]);
  const choice = typeof toolChoice === "object" ? { type: "function", function: toolChoice } : toolChoice;
  const written = await withWrittenImages({ messages });
  return JSON.stringify({ ...Object.fromEntries(named), ...written, tool_choice: choice, stream: true, stream_options: { include_usage: true } });
}

/** The events of a stream whose pieces end anywhere. */
async function* chunksOf(body: ReadableStream<string>): AsyncGenerator<Chunk> {
  let rest = "";
  const reader = body.getReader();
  for (;;) {
    const { done, value = "" } = await reader.read();
    const events = (rest + value).split("\n\n");
    rest = events.pop()!;
    for (const event of events) {
      if (event.startsWith("data: {")) yield JSON.parse(event.slice(6)) as Chunk;
    }
    if (done) return;
  }
}

/** Puts an answer together. */
class Gathered {
  readonly #part: (part: ToolPart) => void;
  readonly #open = new Map<number, { id: string; name: string; text: string }>();
  readonly answer: Omit<ToolAnswer, "message"> = { text: "", reasoning: "", calls: [], finish: "end", tokens: 0, promptTokens: 0, cachedTokens: 0 };

  constructor(part: (part: ToolPart) => void) {
    this.#part = part;
  }

  add({ error, choices = [], usage }: Chunk): void {
    if (error) throw new TokamakError("internal", error.message);
    if (usage) {
      const { prompt_tokens: promptTokens, completion_tokens: tokens, prompt_tokens_details: details } = usage;
      Object.assign(this.answer, { tokens, promptTokens, cachedTokens: details?.cached_tokens ?? 0 });
    }
    const [{ delta, finish_reason: finish } = {}] = choices;
    this.#say("reasoning", delta?.reasoning_content);
    this.#say("text", delta?.content);
    for (const { index, id = "", function: called } of delta?.tool_calls ?? []) {
      const one = this.#open.get(index) ?? { id, name: called?.name ?? "", text: "" };
      one.text += called?.arguments ?? "";
      this.#open.set(index, one);
    }
    if (!finish) return;
    this.answer.finish = FINISH[finish] ?? "end";
    this.#endCalls();
  }

  message(): Message {
    return answerMessage(this.answer.text, this.answer.calls);
  }

  #say(kind: "reasoning" | "text", text: string | null | undefined): void {
    if (!text) return;
    this.answer[kind] += text;
    this.#part({ kind, text });
  }

  /** A call that the longest answer has cut is none. */
  #endCalls(): void {
    for (const { id, name, text } of this.#open.values()) {
      for (const call of callOf(id, { name, arguments: text })) {
        this.answer.calls.push(call);
        this.#part({ kind: "call", call });
      }
    }
  }
}

/**
 * Answers a chat in which the model may call functions. Reasoning, text and calls come apart; an answer that ends with calls goes on once
 * the conversation has its `message` and a `toolResult` of each call.
 */
export function chatWithTools(engine: Pick<Engine, "exchange">, messages: Message[], { signal, ...options }: ToolOptions): ToolRun {
  const parts = new Queue<ToolPart>();
  const gathered = new Gathered((part) => parts.add(part));
  const abort = new AbortController();
  const cancel = () => abort.abort();
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });

  async function answered(): Promise<ToolAnswer> {
    const { answer } = gathered;
    try {
      const request = { method: "POST", path: "/v1/chat/completions", body: await bodyOf(messages, options) };
      const { status, body } = await engine.exchange(request, { signal: abort.signal });
      if (status !== 200) throw await refusal(body);
      for await (const chunk of chunksOf(body)) gathered.add(chunk);
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      answer.finish = "cancelled";
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
    return { ...answer, message: gathered.message() };
  }

  const result = answered();
  let isEnded = false;
  const end = (failed: { error: unknown } | null) => {
    isEnded = true;
    parts.end(failed);
  };
  // A reader of the parts gets the error there, and need not look at the result.
  result.then(() => end(null), (error: unknown) => end({ error }));
  return {
    result,
    cancel,
    async *[Symbol.asyncIterator]() {
      try {
        yield* parts;
      } finally {
        if (!isEnded) cancel();
      }
    },
  };
}

/** The error of an answer with another status than 200. */
async function refusal(body: ReadableStream<string>): Promise<TokamakError> {
  let text = "";
  const reader = body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
  const { error } = JSON.parse(text) as { error?: { message?: string } };
  return new TokamakError("usage", error?.message ?? text);
}
