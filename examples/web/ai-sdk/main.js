import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";
import { open } from "tokamak-web";
import { openaiFetch } from "tokamak-web/openai";

const MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct";
const [form, status, answer] = ["form", "#status", "#answer"].map((name) => document.querySelector(name));

const engine = await open(MODEL, { onProgress: ({ phase, overall }) => (status.textContent = `${phase}, ${Math.round(100 * overall)} %`) });
// The address is never looked up: the requests stay in this tab.
const provider = createOpenAICompatible({ name: "tokamak", baseURL: "https://tokamak.invalid/v1", includeUsage: true, fetch: openaiFetch(engine) });
status.textContent = `${engine.model.name} is open.`;
form.querySelector("button").disabled = false;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  answer.textContent = "";
  const { textStream, usage } = streamText({ model: provider(engine.model.name), prompt: new FormData(form).get("question"), maxOutputTokens: 200 });
  for await (const text of textStream) answer.append(text);
  status.textContent = `${(await usage).outputTokens} tokens`;
});
