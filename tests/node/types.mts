// The errors of types that the package finds: each mark of an expected error must stand before one.
import { type Engine, type Generation, open, type Piece, type Run, TokamakError } from "tokamak-node";
import { openaiFetch } from "tokamak-node/openai";

const engine: Engine = await open("folder", { backend: "cuda", context: 64, adapters: ["a=b"], signal: AbortSignal.timeout(1) });
const run: Run = engine.chat([{ role: "user", content: "Hello", name: "me" }], { maxTokens: 3, stop: "a", logitBias: { 3: -1 } });
for await (const piece of run) {
  const { text, ids, logprobs }: Piece = piece;
  const top: number | undefined = logprobs?.[0]?.top[0]?.id;
  console.log(text.length + ids.length, top);
}
const result: Generation = await run.result;
const finish: "end" | "stop" | "length" | "context" | "cancelled" | "grammar" = result.finish;
const one: Float32Array = await engine.logits([1]);
const rows: Float32Array[] = await engine.logits(new Uint32Array(3), { all: true });
const send: typeof fetch = openaiFetch(engine);
console.log(finish, one, rows, send);

// @ts-expect-error
await open("folder", { backend: "abacus" });
// @ts-expect-error
engine.generate("Once", { colour: "red" });
// @ts-expect-error
engine.generate("Once", { maxTokens: "three" });
// @ts-expect-error
engine.chat([{ role: "king", content: "Hello" }]);
// @ts-expect-error
new TokamakError("colour", "red");
