// The switch "Memory" of a chat: what the memory knows of a message stands before it, quoted, with its sources in sight.
import { type Engine, open } from "tokamak-web";
import type { Recalled } from "tokamak-web/memory";
import { h } from "./dom.ts";
import { sourceOf } from "./asked.ts";
import { memoryModel, withMemory } from "./remembering.ts";

const BUDGET = 512; // tokens
const SHARE = 4; // the context is at least this many times the budget

export interface ChatMemory {
  readonly element: HTMLElement;
  /** The text before the message; nothing where the switch is off or nothing is known. */
  recall(question: string, reader: Engine): Promise<Recalled | undefined>;
}

/** `options`: what the page's address asks of a model. */
export function chatMemory(options: object, failed: (error: unknown) => void): ChatMemory {
  let opening: Promise<Engine> | null = null;
  const box = h("input", { type: "checkbox", id: "with-memory" });
  const status = h("p", { class: "hint", role: "status" }, "Notes of the page Memory stand before a message.");

  const openModel = () => {
    const name = memoryModel();
    status.textContent = `Opening ${name} …`;
    opening = open(sourceOf(name), { ...options, ...withMemory(name) });
    void opening.then(
      async (engine) => {
        const { documents } = await engine.memory().list();
        status.textContent = `${documents.length} ${documents.length === 1 ? "document" : "documents"}, found with ${name}.`;
      },
      (error: unknown) => {
        opening = null;
        box.checked = false;
        status.textContent = "";
        failed(error);
      },
    );
  };
  box.addEventListener("change", () => {
    if (box.checked && !opening) openModel();
  });
  return {
    element: h("section", { "aria-label": "Memory" }, h("label", { class: "check" }, box, "Memory"), status),
    recall: async (question, reader) => {
      if (!box.checked || !opening) return undefined;
      const engine = await opening;
      const budget = Math.min(BUDGET, Math.floor(reader.model.context / SHARE));
      const found = await engine.memory().recall(question, { budget, for: reader });
      return found.records.length > 0 ? found : undefined;
    },
  };
}
