// Functions that a model calls: by the package, with the real module, and in the chat, whose model here calls by a script.
import type { Page } from "@playwright/test";
import { checkLooks, expect, test } from "./pages.ts";

test("the package gives a call parsed, and takes penalties and biases", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}tiny/config.json`);
  const found = await page.evaluate(async (address) => {
    const { open, chatWithTools, toolResult } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const engine = await open(`${address}talking/`, { backend: "cpu", cache: "none", selfTest: false });
    const parameters = { type: "object", properties: { zone: { enum: ["UTC", "local"] } }, required: ["zone"], additionalProperties: false };
    const tools = [{ type: "function" as const, function: { name: "time", parameters } }];
    const messages = [{ role: "user" as const, content: "What time is it?" }];
    const run = chatWithTools(engine, messages, { tools, toolChoice: { name: "time" }, maxTokens: 300, seed: 3, temperature: 1 });
    const kinds: string[] = [];
    let isBusy = false;
    for await (const { kind } of run) {
      kinds.push(kind);
      isBusy ||= engine.store.getSnapshot().status === "busy";
    }
    const answer = await run.result;
    const after = engine.store.getSnapshot();
    const next = await chatWithTools(engine, [...messages, answer.message, ...answer.calls.map((call) => toolResult(call, "12:00"))], { tools, maxTokens: 8, temperature: 0 }).result;

    const greedy = { maxTokens: 8, temperature: 0 };
    const plain = await engine.generate("Once", greedy).result;
    const first = plain.ids[0]!;
    const biased = await engine.generate("Once", { ...greedy, logitBias: { [first]: -100 } }).result;
    const forced = await engine.generate("Once", { ...greedy, logitBias: { 65: 100 } }).result;
    const varied = await engine.generate("Once", { ...greedy, logitBias: { 65: 4, 66: 4 }, frequencyPenalty: 2, presencePenalty: 2 }).result;
    const same = await engine.generate("Once", { ...greedy, logitBias: { 65: 4, 66: 4 } }).result;
    const refused = (options: object) => engine.generate("Once", { ...greedy, ...options }).result.then(() => "", ({ message }: Error) => message);
    const wrong = [await refused({ logitBias: { x: 1 } }), await refused({ logitBias: [1] }), await refused({ logitBias: { 99999999: 1 } })];
    await engine.close();
    return { kinds, answer, next, isBusy, status: after.status, first, biased: biased.ids[0], forced: forced.ids, varied: varied.ids, same: same.ids, wrong };
  }, server.address);
  expect(found.kinds.at(-1)).toBe("call");
  expect(found.answer).toMatchObject({ finish: "calls", calls: [{ id: expect.stringMatching(/^call_/), name: "time", arguments: { zone: expect.stringMatching(/^(UTC|local)$/) } }] });
  expect([found.isBusy, found.status]).toEqual([true, "ready"]);
  expect(found.next.tokens).toBe(8);
  expect(found.next.promptTokens).toBeGreaterThan(found.answer.promptTokens);
  expect(found.biased).not.toBe(found.first);
  expect(found.forced).toEqual(Array(8).fill(65));
  expect(found.varied).not.toEqual(found.same);
  expect(found.wrong[0]).toBe('generate: "logitBias" is {"x": 1}, expected an object of token ids and numbers.');
  expect(found.wrong[1]).toBe('generate: "logitBias" is [1], expected an object of token ids and numbers.');
  expect(found.wrong[2]).toContain("logit_bias has token 99999999");
});

interface Asked {
  messages: { role: string; content: string; tool_calls?: unknown[]; tool_call_id?: string }[];
  tools: { function: { name: string } }[];
}

/** Answers requests of the OpenAI-shaped API in the Worker's place, one after the other, and keeps what was asked. */
async function answerExchanges(page: Page, answers: object[][]): Promise<() => Promise<Asked[]>> {
  await page.addInitScript((given: object[][]) => {
    const own = globalThis as unknown as { asked: unknown[] };
    own.asked = [];
    const answered = () => Number(sessionStorage.getItem("answered") ?? 0); // also before a reload
    const post = Worker.prototype.postMessage as (this: Worker, message: unknown) => void;
    Worker.prototype.postMessage = function (this: Worker, message: { id?: number; call?: { kind: string; body: string } }) {
      const { id, call } = message;
      if (call?.kind !== "openai") return post.call(this, message);
      own.asked.push(JSON.parse(call.body));
      const text = (given[answered()] ?? []).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
      sessionStorage.setItem("answered", String(answered() + 1));
      const tell = (data: object) => this.dispatchEvent(new MessageEvent("message", { data }));
      queueMicrotask(() => {
        tell({ kind: "part", id, part: { kind: "head", status: 200, contentType: "text/event-stream" } });
        tell({ kind: "part", id, part: { kind: "body", text } });
        tell({ kind: "result", id, result: {} });
      });
    } as Worker["postMessage"];
  }, answers);
  return () => page.evaluate(() => (globalThis as unknown as { asked: Asked[] }).asked);
}

const delta = (content: object, finish_reason: string | null = null) => ({ choices: [{ delta: content, finish_reason }] });
const called = (index: number, name: string, values: object) => delta({ tool_calls: [{ index, id: `call_${index}`, function: { name, arguments: JSON.stringify(values) } }] });
const usage = { choices: [], usage: { prompt_tokens: 20, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } } };

test("a call is a card with its arguments, whose answer is accepted or typed, and the model goes on", async ({ context, server }) => {
  const errors: string[] = [];
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  const asked = await answerExchanges(page, [
    [delta({ reasoning_content: "A sum." }), called(0, "calculate", { sum: "(2 + 3) * 4" }), called(1, "weather", { city: "Ulm", days: 2 }), delta({}, "tool_calls"), usage],
    [delta({ content: "It is **20**, and it rains." }), delta({}, "stop"), usage],
  ]);
  await page.goto(`${server.address}chat.html?cpu&selfTest=0&model=${server.address}talking/`);
  await expect(page.locator("#message")).toBeEnabled();
  await page.locator("#with-tools").check();
  await page.locator("summary", { hasText: "Your own functions" }).click();
  const own = page.locator("#own-tools");
  await own.fill("[{]");
  await expect(page.locator("#own-tools-hint")).toContainText("Not offered: ");
  await own.fill('[{"name": "weather", "description": "The weather of a city."}]');
  await expect(page.locator("#own-tools-hint")).toHaveText("Offered too: weather.");
  await page.locator("aside .panel > summary").click();
  await page.getByLabel("Presence penalty").fill("0.5");
  await page.locator("aside .panel > summary").click();
  await page.locator("#message").fill("What is (2 + 3) * 4, and the weather in Ulm?");
  await page.locator("#message").press("Enter");

  const sum = page.getByRole("region", { name: "The model calls calculate" });
  const weather = page.getByRole("region", { name: "The model calls weather" });
  await expect(sum.getByLabel("It gives")).toHaveValue("20");
  await expect(weather).toContainText("cityUlmdays2");
  await expect(page.locator(".reasoning summary")).toBeVisible();
  await checkLooks(page, "chat-tools");
  await sum.getByRole("button", { name: "Accept" }).press("Enter");
  await expect(sum).toContainText("gives 20");
  expect(await asked()).toMatchObject([{ presence_penalty: 0.5 }]); // the other call waits
  await page.reload(); // which keeps the calls
  await expect(page.locator("#message")).toBeEnabled();
  await expect(sum).toContainText("gives 20");
  await weather.getByLabel("It gives").fill("Rain.");
  await weather.getByLabel("It gives").press("Enter");
  await expect(weather).toContainText("gives Rain.");
  await expect(page.locator(".turn")).toHaveCount(3);
  const again = await asked();
  expect(again.at(-1)!.tools.map((tool) => tool.function.name)).toEqual(["time", "calculate", "weather"]);
  expect(again.at(-1)!.messages.map(({ role, content, tool_call_id }) => [role, content, tool_call_id])).toEqual([
    ["user", "What is (2 + 3) * 4, and the weather in Ulm?", undefined],
    ["assistant", "<think>\nA sum.\n</think>\n\n", undefined],
    ["tool", "20", "call_0"],
    ["tool", "Rain.", "call_1"],
  ]);
  expect(again.at(-1)!.messages[1]!.tool_calls).toHaveLength(2);
  expect(errors).toEqual([]);
});
