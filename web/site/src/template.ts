// The prompt that the model's chat template makes of messages.
import type { Look, Message } from "tokamak-web";
import { copyButton, h } from "./dom.ts";
import { showError } from "./shell.ts";

const ROLES = ["system", "user", "assistant", "tool"] as const;

interface Row {
  element: HTMLElement;
  message(): Message;
}

export function templatePreview(panel: HTMLElement, engine: Look): void {
  const rows: Row[] = [];
  const list = h("ol", { class: "messages", "aria-label": "Messages" });
  const variables = h("input", { id: "template-variables", class: "mono", spellcheck: "false", placeholder: '{"enable_thinking": false}' });
  const count = h("p", { class: "status", role: "status" });
  const prompt = h("pre", { tabindex: 0, role: "region", "aria-label": "Prompt", class: "wrapped" });
  let turn = 0;

  async function update(): Promise<void> {
    turn += 1;
    const mine = turn;
    const given = variables.value.trim();
    let more: object = {};
    try {
      more = given ? (JSON.parse(given) as object) : {};
    } catch {
      throw new Error("The variables are no JSON object.");
    }
    const text = await engine.render(rows.map((row) => row.message()), more);
    // A template writes its own special tokens.
    const ids = await engine.tokenize(text, { special: false });
    if (mine !== turn) return;
    panel.querySelector(":scope > .error")?.remove();
    prompt.textContent = text;
    count.textContent = `${ids.length} tokens, ${text.length} characters.`;
  }

  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      void update().catch((error: unknown) => {
        prompt.textContent = count.textContent = "";
        showError(panel, error);
      });
    }, 150);
  };

  function add(role: Message["role"], content: string, focus = false): void {
    const select = h("select", { "aria-label": "Role" }, ...ROLES.map((one) => h("option", { selected: one === role }, one)));
    const text = h("textarea", { rows: 2, "aria-label": "Content" });
    text.value = content;
    const remove = h("button", { type: "button", class: "quiet", "aria-label": "Remove this message" }, "✕");
    const element = h("li", {}, select, text, remove);
    const row = { element, message: () => ({ role: select.value as Message["role"], content: text.value }) };
    remove.addEventListener("click", () => {
      const at = rows.indexOf(row);
      rows.splice(at, 1);
      element.remove();
      // The focus stays in the list, not at the top of the page.
      (rows[Math.min(at, rows.length - 1)]?.element.querySelector("textarea") ?? addButton).focus();
      soon();
    });
    for (const one of [select, text]) one.addEventListener("input", soon);
    rows.push(row);
    list.append(element);
    if (focus) text.focus();
    soon();
  }

  const addButton = h("button", { type: "button", class: "quiet", onclick: () => add(rows.at(-1)?.message().role === "user" ? "assistant" : "user", "", true) }, "Add a message");
  variables.addEventListener("input", soon);
  panel.replaceChildren(
    list,
    h("p", { class: "row" }, addButton, h("label", { for: "template-variables" }, "Variables"), variables),
    h("h2", {}, "Prompt"),
    h("div", { class: "row" }, copyButton(() => prompt.textContent ?? "")),
    count,
    prompt,
  );
  add("user", "Tell me a story about a little robot.");
  add("assistant", "Once there was a little robot.");
  add("user", "And then?");
}
