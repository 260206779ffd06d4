// The part that tests of all clients share: the servers' addresses, and the requests to them.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

const [stories = "", scripted = "", vectors = "", images = ""] = (
  process.env.TOKAMAK_SERVED ?? ""
).split(" ");

/**
 * Servers of the built-in model, of the scripted one, of one that makes vectors of texts, and of one
 * that reads images.
 */
export const served = { stories, scripted, vectors, images };

/** The third one answers nobody without it. */
export const vectorsKey = "open-sesame";

export const question = "Tell me a story about a fox.";
export const ask = [{ role: "user" as const, content: question }];

/** The parameters of a function that the scripted model calls: {"city": "Paris", "days": 2}. */
export const weatherParameters = {
  type: "object" as const,
  properties: { city: { type: "string" as const }, days: { type: "integer" as const } },
  required: ["city"],
};
export const weather = {
  type: "function" as const,
  function: {
    name: "weather",
    description: "What the weather will be in a city.",
    parameters: weatherParameters,
  },
};

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  return Array.fromAsync(items);
}

async function cancelled(): Promise<number> {
  const metrics = await (await fetch(`${served.stories}/metrics`)).text();
  return Number(/^tokamak:requests_cancelled_total\{.*\} (\d+)$/m.exec(metrics)![1]);
}

/** Whether the server of stories gives a request up when its client goes, as `leave` does. */
export async function endsWith(leave: () => Promise<void>): Promise<void> {
  const before = await cancelled();
  await leave();
  for (let waits = 0; waits < 100; ++waits) {
    if ((await cancelled()) > before) return;
    await sleep(20);
  }
  assert.fail("the server goes on with an answer that nobody waits for");
}

/** A text from the middle of an answer, for a stop that must be found there. */
export function middleOf(text: string): string {
  const words = text.split(" ");
  return words.slice(words.length >> 1, (words.length >> 1) + 2).join(" ");
}
