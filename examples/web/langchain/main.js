import { ChatOpenAI } from "@langchain/openai";
import { open } from "tokamak-web";
import { openaiFetch } from "tokamak-web/openai";

const MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct";
const [form, status, answer] = ["form", "#status", "#answer"].map((name) => document.querySelector(name));

const engine = await open(MODEL, { onProgress: ({ phase, overall }) => (status.textContent = `${phase}, ${Math.round(100 * overall)} %`) });
// The address is never looked up: the requests stay in this tab.
const chat = new ChatOpenAI({
  model: engine.model.name,
  apiKey: "-",
  maxTokens: 200,
  configuration: { baseURL: "https://tokamak.invalid/v1", fetch: openaiFetch(engine), dangerouslyAllowBrowser: true },
});
status.textContent = `${engine.model.name} is open.`;
form.querySelector("button").disabled = false;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  answer.textContent = "";
  let pieces = 0;
  for await (const { content } of await chat.stream(new FormData(form).get("question"))) {
    answer.append(content);
    pieces += 1;
  }
  status.textContent = `${pieces} pieces`;
});
