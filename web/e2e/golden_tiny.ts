// The recorded answers of the tiny model that the pages are tested with.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import type { Golden } from "../site/src/suite.ts";
import { DATA } from "./pages_server.ts";

interface Recorded {
  prompts: { name: string; ids: number[]; greedy: { ids: number[]; margins: number[] } }[];
}

/** Its tokenizer is another model's, so that prompts are tokens. */
export function tinyGoldens(): Golden[] {
  const text = readFileSync(join(DATA, "models/qwen3_qknorm/golden.json"), "utf8");
  const { prompts } = JSON.parse(text) as Recorded;
  return prompts
    .filter(({ ids }) => ids.length < 100)
    .map(({ name, ids, greedy }) => ({
      kind: "ids",
      prompt: name,
      promptIds: ids,
      ids: greedy.ids,
      margins: greedy.margins,
      ends: false,
    }));
}

/**
 * Answers a verb of the module in the Worker's place: what a device that computes wrongly would say.
 * Before the page is opened.
 */
export async function standIn(page: Page, verb: string, parts: object[], result: object): Promise<void> {
  await page.addInitScript(
    ({ verb, parts, result }) => {
      const { postMessage } = Worker.prototype;
      Worker.prototype.postMessage = function (this: Worker, message: { id: number; call?: { verb?: string } }) {
        if (message.call?.verb !== verb) return postMessage.call(this, message);
        const say = (data: object) => this.dispatchEvent(new MessageEvent("message", { data: { id: message.id, ...data } }));
        for (const doing of parts) say({ kind: "part", part: { kind: "doing", doing } });
        say({ kind: "result", result });
      } as typeof postMessage;
    },
    { verb, parts, result },
  );
}
