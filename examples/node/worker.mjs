// worker.mjs [BACKEND [MODEL]]: a model in a worker thread, which posts its texts.
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { open } from "tokamak-node";

if (isMainThread) {
  const [, , backend = "auto", model = ""] = process.argv;
  const worker = new Worker(new URL(import.meta.url), { workerData: { backend, model } });
  worker.on("message", (text) => console.log(text));
} else {
  const { model, backend } = workerData;
  const engine = await open(model, { backend });
  parentPort?.postMessage(await engine.generate("The old king", { maxTokens: 24, seed: 2 }).text());
  await engine.close();
}
