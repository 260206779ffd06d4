// openai_calls.mjs [BACKEND [MODEL]]: OpenAI's calls without a server. Its client takes the same function:
//
//   new OpenAI({ baseURL: "https://tokamak.invalid/v1", apiKey: "-", fetch: openaiFetch(engine) })
import { stdout } from "node:process";
import { open } from "tokamak-node";
import { openaiFetch } from "tokamak-node/openai";

const ADDRESS = "https://tokamak.invalid/v1/chat/completions"; // never looked up
const SCHEMA = { type: "object", properties: { animal: { enum: ["fox", "owl"] } }, required: ["animal"], additionalProperties: false };
const question = { messages: [{ role: "user", content: "Which animal?" }], temperature: 0, max_tokens: 32 };

const [, , backend = "auto", model = ""] = process.argv;
const engine = await open(model, { backend: /** @type {import("tokamak-node").OpenOptions["backend"] & string} */ (backend), context: 512 });
const ask = openaiFetch(engine);
/** @param {object} more */
const asked = (more) => ask(ADDRESS, { method: "POST", body: JSON.stringify({ ...question, ...more }) });

const answer = await asked({ response_format: { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } } });
const { choices } = /** @type {{ choices: { message: { content: string } }[] }} */ (await answer.json());
console.log(choices[0]?.message.content);
const stream = await asked({ stream: true });
for await (const event of stream.body ?? []) stdout.write(event);
await engine.close();
