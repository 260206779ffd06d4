// several.mjs [BACKEND [MODEL]]: three texts at once, of which the slowest is given up.
import { open } from "tokamak-node";

const [, , backend = "auto", model = ""] = process.argv;
const engine = await open(model, {
  backend: /** @type {import("tokamak-node").OpenOptions["backend"] & string} */ (backend),
  context: 512,
  sequences: 3,
});
const [fox, king, endless] = await Promise.all([
  engine.generate("The fox said", { maxTokens: 24, seed: 1 }).text(),
  engine.generate("The old king", { maxTokens: 24, seed: 2 }).text(),
  engine.generate("For ever", { maxTokens: 400, endIds: [], signal: AbortSignal.timeout(50) }).result,
]);
console.log(`The fox said${fox}\nThe old king${king}`);
console.log(`The third one: ${endless.finish}, after ${endless.tokens} tokens.`);
await engine.close();
