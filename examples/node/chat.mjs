// chat.mjs [BACKEND [MODEL]]: a conversation with the built-in model, or with one of yours, as it is written.
import { stdout } from "node:process";
import { open } from "tokamak-node";

const QUESTIONS = ["Who lived in the forest?", "What did the fox say?"];

const [, , backend = "auto", model = ""] = process.argv;
const engine = await open(model, { backend: /** @type {import("tokamak-node").OpenOptions["backend"] & string} */ (backend) });
/** @type {import("tokamak-node").Message[]} */
const messages = [];
for (const question of QUESTIONS) {
  messages.push({ role: "user", content: question });
  console.log(`> ${question}`);
  const answer = engine.chat(messages, { maxTokens: 40 });
  for await (const { text } of answer) stdout.write(text);
  const { finish, tokens, text } = await answer.result;
  console.log(`\n(${finish}, ${tokens} tokens)`);
  messages.push({ role: "assistant", content: text });
}
await engine.close();
