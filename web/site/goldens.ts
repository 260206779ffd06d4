// The recorded answers that the page "validate" compares with: those of the repository's tests, without
// what only they need.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import type { Golden } from "./src/suite.ts";

interface Recorded {
  kind: "text" | "chat";
  prompt: string;
  ids: number[];
  greedy_ids: number[];
  greedy_margins: number[];
  stopped: boolean;
}

/** goldens.json: for each model by its name on the pages the prompts and their answers. */
export function goldens(root: string): Plugin {
  return {
    name: "goldens",
    apply: "build",
    generateBundle() {
      const text = readFileSync(join(root, "tests/data/storyteller/golden.json"), "utf8");
      const { cases } = JSON.parse(text) as { cases: Recorded[] };
      const made = cases.map(
        (one): Golden => ({
          kind: one.kind,
          prompt: one.prompt,
          promptIds: one.ids,
          ids: one.greedy_ids,
          ends: one.stopped,
          margins: one.greedy_margins,
        }),
      );
      this.emitFile({ type: "asset", fileName: "goldens.json", source: JSON.stringify({ "built-in": made }) });
    },
  };
}
