// The fetch that speaks OpenAI's protocol, with the real module: whole, as a stream, and what is wrong.
import { expect, test } from "./pages.ts";

interface Found {
  whole: { choices: { message: { content: string }; finish_reason: string }[]; usage: Record<string, number> };
  events: string[];
  wrong: { status: number; body: { error: { param: string } } };
  models: { data: { id: string }[] };
}

test("a chat is answered whole and as a stream with the same text", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}tiny/config.json`);
  const found = await page.evaluate(async (address): Promise<Found> => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const { openaiFetch } = (await import(`${address}package/openai.js`)) as typeof import("tokamak-web/openai");
    const engine = await open(`${address}talking/`, { backend: "cpu", cache: "none" });
    const fetch = openaiFetch(engine);
    const ask = (body: object) =>
      fetch("https://tokamak.invalid/v1/chat/completions", { method: "POST", body: JSON.stringify(body) });
    const chat = { messages: [{ role: "user", content: "Hello" }], max_tokens: 8, temperature: 0 };
    const whole = await (await ask(chat)).json();
    const text = await (await ask({ ...chat, stream: true })).text();
    const wrong = await ask({ ...chat, temperature: 9 });
    const models = await (await fetch("https://tokamak.invalid/v1/models")).json();
    const body = await wrong.json();
    await engine.close();
    return { whole, events: text.split("\n\n").filter(Boolean), wrong: { status: wrong.status, body }, models };
  }, server.address);
  expect(found.whole.choices[0]?.finish_reason).toBe("length");
  expect(found.whole.usage["completion_tokens"]).toBe(8);
  expect(found.events.at(-1)).toBe("data: [DONE]");
  const deltas = found.events.slice(0, -1).map((event) => JSON.parse(event.slice(6)).choices[0]?.delta.content ?? "");
  expect(deltas.join("")).toBe(found.whole.choices[0]?.message.content);
  expect([found.wrong.status, found.wrong.body.error.param]).toEqual([400, "temperature"]);
  expect(found.models.data).toHaveLength(1);
});
