// Functions in a chat: the panel that offers them to the model, and an answer that may call them.
import { type Engine, type Generation, type Piece, type Run, type Tool, type ToolOptions, type ToolRun, chatWithTools } from "tokamak-web";
import type { Turn } from "./conversations.ts";
import { h } from "./dom.ts";
import { forget, keep, kept } from "./kept.ts";
import { OWN_TOOLS, toolsOf } from "./own_tools.ts";
import { messagesOf } from "./prompts.ts";

const IS_ON = "tokamak.tools";
const OWN = "tokamak.tools.own";
const EXAMPLE = '[{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]';

export interface ChatTools {
  readonly element: HTMLElement;
  /** The functions that a model may call; none where the switch is off. */
  offered(): Tool[];
}

export function chatTools(): ChatTools {
  const box = h("input", { type: "checkbox", id: "with-tools", checked: kept(IS_ON) !== null });
  const text = h("textarea", { id: "own-tools", rows: 4, class: "mono", spellcheck: "false", placeholder: EXAMPLE, "aria-describedby": "own-tools-hint" });
  const hint = h("p", { class: "hint", id: "own-tools-hint", role: "status" });
  text.value = kept(OWN) ?? "";
  let own: Tool[] = [];
  const read = () => {
    try {
      own = toolsOf(text.value);
      hint.textContent = own.length > 0 ? `Offered too: ${own.map((tool) => tool.function.name).join(", ")}.` : "You answer for these by hand. A JSON list: name, description, parameters.";
    } catch (error) {
      own = [];
      hint.textContent = `Not offered: ${(error as Error).message}`;
    }
  };
  box.addEventListener("change", () => (box.checked ? keep(IS_ON, "") : forget(IS_ON)));
  text.addEventListener("input", () => {
    keep(OWN, text.value);
    read();
  });
  read();
  return {
    element: h(
      "section",
      { "aria-label": "Functions" },
      h("label", { class: "check" }, box, "Functions"),
      h("p", { class: "hint" }, "The model may ask for the time and for sums, which this page computes."),
      h("details", {}, h("summary", {}, "Your own functions"), h("label", { for: "own-tools", class: "visually-hidden" }, "Your own functions"), text, hint),
    ),
    offered: () => (box.checked ? [...OWN_TOOLS, ...own] : []),
  };
}

/** The pieces of an answer; its calls go to the turn. */
async function* piecesOf(run: ToolRun, turn: Turn): AsyncGenerator<Piece, void, undefined> {
  for await (const part of run) {
    if (part.kind === "call") {
      turn.calls = [...(turn.calls ?? []), part.call];
      yield { text: "", toolCalls: [part.call], ids: [] };
    } else {
      yield part.kind === "text" ? { text: part.text, ids: [] } : { text: "", reasoning: part.text, ids: [] };
    }
  }
}

/** The answer to the turns, in which the model may call functions; `turn` gets its calls. */
export async function runWithTools(own: Engine, turns: Turn[], options: ToolOptions, turn: Turn): Promise<Run> {
  const began = performance.now();
  const run = chatWithTools(own, await messagesOf(turns, own.model.sees), options);
  let first = began;
  const pieces = piecesOf(run, turn);
  const result = run.result.then(({ text, finish, tokens, promptTokens, cachedTokens }): Generation => ({
    text,
    ids: [],
    finish: finish === "calls" ? "end" : finish,
    stop: "",
    seed: options.seed ?? 0,
    tokens,
    promptTokens,
    cachedTokens,
    prefillSeconds: (first - began) / 1000,
    decodeSeconds: (performance.now() - first) / 1000,
  }));
  result.catch(() => undefined); // who reads the pieces gets it there
  return {
    cancel: run.cancel,
    result,
    async *[Symbol.asyncIterator]() {
      for await (const piece of pieces) {
        if (first === began) first = performance.now();
        yield piece;
      }
    },
  };
}
