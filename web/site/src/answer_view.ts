// An answer as a page shows it: Markdown, its code with a button that copies it, its reasoning folded. While it streams only its last
// block is laid out anew.
import MarkdownIt from "markdown-it";
import { alignByClass } from "./aligned_cells.ts";
import { h } from "./dom.ts";
import { highlighted } from "./highlight.ts";
import { formulaAt, mathOf } from "./tex.ts";
import { partsOf } from "./reasoning.ts";

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true, highlight: highlighted });
const { rules } = markdown.renderer;
const plainFence = rules["fence"];
rules["fence"] = (tokens, at, ...rest) => {
  const language = markdown.utils.escapeHtml(tokens[at]?.info.trim().split(/\s+/)[0] ?? "");
  const code = (plainFence?.(tokens, at, ...rest) ?? "").replace("<pre>", '<pre tabindex="0">');
  return `<div class="code"><div class="row"><span class="faint">${language}</span><button type="button" class="quiet" data-copies>Copy</button></div>${code}</div>`;
};
markdown.inline.ruler.before("escape", "formula", (state, silent) => {
  const found = formulaAt(state.src, state.pos);
  if (!found) return false;
  if (!silent) Object.assign(state.push("formula", "math", 0), { content: found.tex, block: found.isBlock });
  state.pos = found.end;
  return true;
});
rules["formula"] = (tokens, at) => mathOf(tokens[at]?.content ?? "", tokens[at]?.block ?? false);
// A link that replaces the page would take the conversation's model along.
rules["link_open"] = (tokens, at, options, _env, self) => {
  tokens[at]?.attrSet("target", "_blank");
  tokens[at]?.attrSet("rel", "noopener noreferrer");
  return self.renderToken(tokens, at, options);
};
// Wide tables scroll by themselves.
rules["table_open"] = () => '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n';
rules["table_close"] = () => "</table></div>\n";
alignByClass(markdown);

/** The end of what stays as it is when text is added: after the last empty line that is outside of a block of code. */
export function settledLength(text: string): number {
  let end = 0;
  let isCode = false;
  let at = 0;
  for (const line of text.split("\n")) {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    at += line.length + 1;
    if (line.trim() === "" && !isCode && at <= text.length) end = at;
  }
  return end;
}

/** An answer's Markdown as HTML. */
export const answerHtml = (text: string) => markdown.render(text);

export interface AnswerView {
  readonly element: HTMLElement;
  /** Shows the text so far, or with `isWhole` all of it. */
  show(text: string, isWhole?: boolean): void;
}

export function answerView(): AnswerView {
  const thoughts = h("pre", { class: "wrapped" });
  const summary = h("summary", {}, "Reasoning …");
  const reasoning = h("details", { class: "reasoning", hidden: true }, summary, thoughts);
  const settled = h("div");
  const last = h("div");
  const text = h("div", { class: "text" }, settled, last);
  let done = 0;

  const add = (place: HTMLElement, part: string) => {
    const made = document.createElement("template");
    made.innerHTML = answerHtml(part);
    place.append(made.content);
  };
  const show = (whole: string, isWhole = false) => {
    const parts = partsOf(whole);
    reasoning.hidden = parts.reasoning === "";
    summary.textContent = parts.isReasoning ? "Reasoning …" : "Reasoning";
    thoughts.textContent = parts.reasoning;
    const end = isWhole ? 0 : settledLength(parts.answer);
    if (isWhole || end < done) {
      settled.replaceChildren();
      done = 0;
    }
    if (end > done) add(settled, parts.answer.slice(done, end));
    done = end;
    last.replaceChildren();
    add(last, parts.answer.slice(end));
  };
  text.addEventListener("click", (event) => {
    const button = (event.target as HTMLElement).closest<HTMLElement>("[data-copies]");
    if (!button) return;
    void navigator.clipboard.writeText(button.closest(".code")?.querySelector("code")?.textContent ?? "").then(() => {
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
  });
  return { element: h("div", {}, reasoning, text), show };
}
