// The list of conversations beside the open one. One that is deleted can be put back for some seconds.
import { type Conversation, all, forgetImagesOf, keep, remove, titleOf } from "./conversations.ts";
import { h } from "./dom.ts";

const UNDO_MS = 8000;

export interface ConversationList {
  readonly element: HTMLElement;
  /** Draws it again; `current` is the one that is open. */
  draw(current: Conversation): void;
}

export function conversationList(show: (conversation: Conversation) => void, deleted: (conversation: Conversation) => void): ConversationList {
  const list = h("ul", { class: "conversations" });
  const undo = h("p", { class: "hint", role: "status" });
  let current = "";

  function bin(one: Conversation): void {
    remove(one);
    const late = setTimeout(() => {
      undo.replaceChildren();
      void forgetImagesOf(one);
    }, UNDO_MS);
    const back = h("button", { type: "button", class: "quiet" }, "Undo");
    back.addEventListener("click", () => {
      clearTimeout(late);
      undo.replaceChildren();
      keep(one);
      show(one);
    });
    undo.replaceChildren("Deleted. ", back);
    deleted(one);
  }

  const entry = (one: Conversation) => {
    const choose = h("button", { type: "button", class: "quiet", "aria-current": one.id === current && "true" }, titleOf(one));
    choose.addEventListener("click", () => show(one));
    const button = h("button", { type: "button", class: "quiet", "aria-label": `Delete “${titleOf(one)}”` }, "×");
    button.addEventListener("click", () => bin(one));
    return h("li", {}, choose, button);
  };
  return {
    element: h("div", {}, list, undo),
    draw: ({ id }) => {
      current = id;
      list.replaceChildren(...all().map(entry));
    },
  };
}
