// Extensions take no code from elsewhere: the package's files lie in the extension. The model comes from the hub, and is kept.
import { open } from "./tokamak-web/index.js";

const MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct";
const [form, status, answer] = ["form", "#status", "#answer"].map((name) => document.querySelector(name));

const engine = await open(MODEL, { onProgress: ({ phase, overall }) => (status.textContent = `${phase}, ${Math.round(100 * overall)} %`) });
status.textContent = `${engine.model.name} is open.`;
form.querySelector("button").disabled = false;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  answer.textContent = "";
  const run = engine.chat([{ role: "user", content: new FormData(form).get("question") }], { maxTokens: 200 });
  for await (const { text } of run) answer.append(text);
  status.textContent = `${(await run.result).tokens} tokens`;
});
