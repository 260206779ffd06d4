// The turns of a conversation as elements, and what stands in place of none.
import type { ToolCall } from "tokamak-web";
import { answerView } from "./answer_view.ts";
import { shownImage } from "./attachments.ts";
import type { Turn } from "./conversations.ts";
import { copyButton, h } from "./dom.ts";
import { imageOf } from "./kept_images.ts";
import { callCard } from "./tool_cards.ts";

export interface TurnActions {
  edit(index: number): void;
  regenerate(index: number): void;
  goOn(): void;
  /** Gives the model what a call of its gives. */
  answerCall(call: ToolCall, content: string): void;
}

function imagesElement(ids: string[]): HTMLElement {
  const row = h("div", { class: "attached" });
  for (const id of ids) {
    const place = h("span", {}, "An image …");
    row.append(place);
    void imageOf(id).then((image) => place.replaceWith(image ? shownImage(image, "An image of the message") : "An image that is no longer kept."));
  }
  return row;
}

/** The element with what was added to the prompt, and the sources of that. */
function memoryElement({ sources, context }: NonNullable<Turn["memory"]>): HTMLElement {
  return h("details", { class: "recalled" }, h("summary", {}, `From memory: ${sources.join(", ")}`), h("pre", { class: "wrapped" }, context));
}

function contentOf(turn: Turn): HTMLElement {
  if (turn.role === "user") return h("div", { class: "text" }, turn.content);
  const view = answerView();
  view.show(turn.content, true);
  return h("div", { class: "answer" }, view.element);
}

/** The turns; what calls have given stands in the answers that made them. */
export function turnElements(turns: Turn[], actions: TurnActions): HTMLElement[] {
  const answers = new Map(turns.flatMap(({ call, content }) => (call === undefined ? [] : [[call, content] as const])));
  const last = turns.findLastIndex(({ role }) => role !== "tool");
  return turns.flatMap((turn, index) => (turn.role === "tool" ? [] : turnElement(turn, index, index === last, answers, actions)));
}

/** `answers`: what the calls of the conversation have given, by their ids. */
function turnElement(turn: Turn, index: number, isLast: boolean, answers: Map<string, string>, { edit, regenerate, goOn, answerCall }: TurnActions): HTMLElement {
  const actions = h("div", { class: "row actions" }, copyButton(() => turn.content));
  const action = (label: string, what: () => void) => actions.append(h("button", { type: "button", class: "quiet", onclick: what }, label));
  if (turn.role === "user") action("Edit", () => edit(index));
  else if (isLast) {
    if (turn.unfinished && turn.content !== "") action("Continue", goOn);
    action("Regenerate", () => regenerate(index));
  }
  return h("article", { class: `turn ${turn.role}` }, h("h2", { class: "who" }, turn.role === "user" ? "You" : "Model"), turn.memory && memoryElement(turn.memory), turn.images && imagesElement(turn.images), contentOf(turn), ...(turn.calls ?? []).map((call) => callCard(call, answers.get(call.id), (content) => answerCall(call, content))), actions);
}

/** The storyteller knows no facts. */
const STORIES = ["Tell me a story about a fox.", "Tell me a story about a lighthouse.", "Tell me a story about the sea.", "Tell me a story about a king."];
const QUESTIONS = ["Why is the sky blue?", "Write a short poem about the rain.", "Explain recursion, with an example in Python.", "Solve x² − 5x + 6 = 0, step by step."];

/** The beginning of a conversation: questions to click, such as the model can answer. */
export function welcome(ask: (question: string) => unknown, isStoryteller: boolean): HTMLElement {
  const examples = (isStoryteller ? STORIES : QUESTIONS).map((question) => h("button", { type: "button", class: "quiet", onclick: () => void ask(question) }, question));
  return h("div", { class: "welcome" }, h("p", { class: "faint" }, "Nothing leaves this tab. Begin with one of these, or with your own:"), h("div", { class: "examples" }, ...examples));
}
