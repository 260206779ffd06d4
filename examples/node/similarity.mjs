// similarity.mjs [BACKEND [MODEL]]: which sentence means most nearly the same as the first one.
import { open } from "tokamak-node";

const SENTENCES = ["A fox sleeps in the forest", "The sea is calm tonight", "A fox is asleep among the trees"];

const [, , backend = "auto", model = ""] = process.argv;
const engine = await open(model, {
  backend: /** @type {import("tokamak-node").OpenOptions["backend"] & string} */ (backend),
  ...(model === "" && { pooling: "mean" }),
});
const [first, ...others] = await engine.embed(SENTENCES, { normalize: true });
await engine.close();
others.forEach((vector, at) => {
  const cosine = vector.reduce((sum, number, i) => sum + number * (first?.[i] ?? 0), 0);
  console.log(`${cosine.toFixed(3)}  ${SENTENCES[at + 1]}`);
});
