// Texts of a form, with the real module: by JSON Schema, a regular expression, a grammar and `response_format`, all at once.
import { expect, test } from "./pages.ts";

test("answers of a form keep to it, several at once, each as it is alone", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}tiny/config.json`);
  const found = await page.evaluate(async (address) => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const { openaiFetch } = (await import(`${address}package/openai.js`)) as typeof import("tokamak-web/openai");
    const engine = await open(`${address}talking/`, { backend: "cpu", cache: "none", sequences: 4 });
    const schema = {
      type: "object",
      properties: { answer: { enum: ["yes", "no"] }, marks: { type: "array", items: { type: "integer", minimum: 10, maximum: 99 }, minItems: 2, maxItems: 3 } },
      required: ["answer", "marks"],
      additionalProperties: false,
    };
    const messages = [{ role: "user" as const, content: "Is it good?" }];
    const common = { maxTokens: 200, temperature: 1, seed: 3 };
    const forms = [{ jsonSchema: schema }, { regex: "[a-c]{3}-[0-9]{2}" }, { grammar: 'root ::= ("left" | "right") "!"' }, {}];
    const runs = () => forms.map((form) => engine.chat(messages, { ...common, ...form, ...(form === forms[3] && { maxTokens: 60 }) }));
    const together = await Promise.all(runs().map(({ result }) => result));
    const alone: string[] = [];
    for (const form of forms) {
      const { text } = await engine.chat(messages, { ...common, ...form, ...(form === forms[3] && { maxTokens: 60 }) }).result;
      alone.push(text);
    }
    const fetch = openaiFetch(engine);
    const ask = async (more: object) => {
      const body = JSON.stringify({ messages, max_tokens: 200, temperature: 1, seed: 3, ...more });
      return (await fetch("https://tokamak.invalid/v1/chat/completions", { method: "POST", body })).text();
    };
    const response_format = { type: "json_schema", json_schema: { name: "judgement", strict: true, schema } };
    const [whole, streamed] = await Promise.all([ask({ response_format }), ask({ response_format, stream: true })]);
    const wrong = await engine.chat(messages, { jsonSchema: { type: "nothing" } }).result.catch(({ code, message }) => ({ code, message }));
    await engine.close();
    return { together: together.map(({ text, finish }) => ({ text, finish })), alone, whole, streamed, wrong };
  }, server.address);

  const isJudgement = (text: string) => {
    const { answer, marks, ...others } = JSON.parse(text) as { answer: string; marks: number[] };
    expect(["yes", "no"]).toContain(answer);
    expect([2, 3]).toContain(marks.length);
    for (const mark of marks) expect(String(mark)).toMatch(/^[1-9][0-9]$/);
    expect(others).toEqual({});
  };
  const [json, regex, grammar, free] = found.together;
  isJudgement(json!.text);
  expect(regex!.text).toMatch(/^[a-c]{3}-[0-9]{2}$/);
  expect(grammar!.text).toMatch(/^(left|right)!$/);
  expect(found.together.slice(0, 3).map(({ finish }) => finish)).not.toContain("length");
  expect(free!.text).not.toBe("");
  expect(found.together.map(({ text }) => text)).toEqual(found.alone);
  isJudgement(JSON.parse(found.whole).choices[0].message.content);
  const deltas = found.streamed.split("\n\n").filter((event) => event.startsWith("data: {"));
  const streamed = deltas.map((event) => JSON.parse(event.slice(6)).choices[0]?.delta.content ?? "").join("");
  expect(streamed).toBe(JSON.parse(found.whole).choices[0].message.content);
  expect(found.wrong).toMatchObject({ code: expect.stringMatching(/usage|invalid-input|unsupported/), message: expect.stringContaining("nothing") });
});

test("reasoning of a chat comes apart from its text, and the views of a model are as their types say", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}tiny/config.json`);
  const { chats, views } = await page.evaluate(async (address) => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const names = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"];
    const files = await Promise.all(names.map(async (name) => new File([await (await fetch(`${address}talking/${name}`)).blob()], name)));
    const template = "{{ messages[0].content }}{% if thinks %}<think>\n{% endif %}{# <think> </think> #}";
    const engine = await open([...files, new File([template], "chat_template.jinja")], { backend: "cpu", cache: "none", selfTest: false });
    const chat = (thinks: boolean, more: object = {}) =>
      engine.chat([{ role: "user", content: "Why?" }], { maxTokens: 12, temperature: 1, seed: 3, templateVariables: { thinks }, ...more }).result;
    const chats = [await chat(true), await chat(false), await chat(true, { choices: ["yes", "no"] })];
    const keys: Record<string, string[]> = {};
    for (const view of ["summary", "graph", "plan", "weights", "memory"] as const) keys[view] = Object.keys(await engine.inspect(view, { form: "json" }));
    const { phases } = await engine.inspect("plan", { form: "json" });
    keys["step"] = Object.keys(phases[0]!.steps[0]!);
    await engine.close();
    return { chats, views: keys };
  }, server.address);
  const [thinking, plain, formed] = chats;
  expect(thinking).toMatchObject({ text: "", toolCalls: [], message: { role: "assistant", content: "" } });
  expect(thinking!.reasoning).not.toBe("");
  expect(plain).toMatchObject({ reasoning: "", tokens: 12 });
  expect(plain!.text).not.toBe("");
  expect(formed).toMatchObject({ reasoning: "", text: expect.stringMatching(/^(yes|no)$/) });
  expect(views["summary"]).toEqual(expect.arrayContaining(["model", "architecture", "parameters", "element_types", "layers", "width", "context", "files", "fusions", "launches", "memory"]));
  expect(views["graph"]).toEqual(["tokens", "depth", "values", "nodes", "result"]);
  expect(views["plan"]).toEqual(["backend", "device", "depth", "buffers", "phases"]);
  expect(views["step"]).toEqual(expect.arrayContaining(["op", "kernel", "inputs", "outputs", "bytes", "flops", "passed_over"]));
  expect(views["weights"]).toEqual(["used", "skipped", "tensors"]);
  expect(views["memory"]).toEqual(["memory", "kept", "phases", "buffers"]);
});
