// Your own Worker: what it does with texts happens here, without a way over the page. The engine has a Worker below this one.
import { open } from "tokamak-web";

const MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct";

const opened = open(MODEL, {
  onProgress: ({ phase, overall }) => postMessage({ status: `${phase}, ${Math.round(100 * overall)} %` }),
});
opened.then(
  ({ model }) => postMessage({ status: `${model.name} is open.`, ready: true }),
  (error) => postMessage({ status: error.message }),
);

onmessage = async ({ data }) => {
  const engine = await opened;
  const run = engine.chat([{ role: "user", content: data.question }], { maxTokens: 200 });
  let words = 0;
  for await (const { text } of run) {
    words += text.split(" ").length - 1;
    postMessage({ text });
  }
  postMessage({ status: `${(await run.result).tokens} tokens, ${words} spaces between words` });
};
