// The clients in a tab: web/e2e/clients.spec.ts bundles this and runs it over `openaiFetch`. Each asks for the same greedy
// answer, whole and streamed.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";

const baseURL = "https://tokamak.invalid/v1"; // never looked up
const PROMPT = "Hello";
const TOKENS = 8;

/** The answer to a client: whole, in pieces, and its error where it cannot be given. */
export interface Asked {
  whole: string;
  pieces: string[];
  tokens: number | undefined;
  error: string;
}

async function all<T>(from: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of from) found.push(one);
  return found;
}
const messageOf = (promise: PromiseLike<unknown>) => promise.then(() => "", (error: unknown) => String(error));

async function openai(fetch: typeof globalThis.fetch): Promise<Asked> {
  const client = new OpenAI({ baseURL, apiKey: "-", fetch, dangerouslyAllowBrowser: true, maxRetries: 0 });
  const request = { model: "talking", messages: [{ role: "user" as const, content: PROMPT }], max_tokens: TOKENS, temperature: 0 };
  const whole = await client.chat.completions.create(request);
  const chunks = await all(await client.chat.completions.create({ ...request, stream: true }));
  return {
    whole: whole.choices[0]!.message.content ?? "",
    pieces: chunks.map(({ choices }) => choices[0]?.delta.content ?? ""),
    tokens: whole.usage?.completion_tokens,
    error: await messageOf(client.chat.completions.create({ ...request, temperature: 9 })),
  };
}

async function aiSdk(fetch: typeof globalThis.fetch): Promise<Asked> {
  const model = createOpenAICompatible({ name: "tokamak", baseURL, fetch })("talking");
  const request = { model, prompt: PROMPT, maxOutputTokens: TOKENS, temperature: 0, maxRetries: 0 };
  const { text, usage } = await generateText(request);
  return {
    whole: text,
    pieces: await all(streamText(request).textStream),
    tokens: usage.outputTokens,
    error: await messageOf(generateText({ ...request, temperature: 9 })),
  };
}

async function langChain(fetch: typeof globalThis.fetch): Promise<Asked> {
  const chat = (temperature: number) =>
    new ChatOpenAI({ apiKey: "-", model: "talking", maxTokens: TOKENS, temperature, maxRetries: 0, configuration: { baseURL, fetch, dangerouslyAllowBrowser: true } });
  const whole = await chat(0).invoke(PROMPT);
  return {
    whole: whole.text,
    pieces: (await all(await chat(0).stream(PROMPT))).map(({ text }) => text),
    tokens: whole.usage_metadata?.output_tokens,
    error: await messageOf(chat(9).invoke(PROMPT)),
  };
}

export async function ask(fetch: typeof globalThis.fetch): Promise<Record<string, Asked>> {
  return { openai: await openai(fetch), aiSdk: await aiSdk(fetch), langChain: await langChain(fetch) };
}
