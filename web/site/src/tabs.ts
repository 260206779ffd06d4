// Tabs, of which one panel is seen: arrow keys, Home and End go from one to the next.
import { select } from "./address.ts";
import { h } from "./dom.ts";

export interface Tab {
  id: string;
  title: string;
  panel: HTMLElement;
  /** Called each time the tab is chosen. */
  shown?(): void;
}

export interface Tabs {
  readonly list: HTMLElement;
  choose(id: string, focus?: boolean): void;
}

/** The list of the tabs, for a place before the panels. The chosen one is in the address, after "#". */
export function tabs(label: string, all: Tab[]): Tabs {
  const buttons = all.map(({ id, title, panel }) => {
    panel.id = `panel-${id}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", `tab-${id}`);
    return h(
      "button",
      { type: "button", class: "quiet", role: "tab", id: `tab-${id}`, "aria-controls": panel.id, onclick: () => choose(id) },
      title,
    );
  });
  const list = h("div", { role: "tablist", "aria-label": label }, ...buttons);

  function choose(id: string, focus = false): void {
    const index = Math.max(0, all.findIndex((tab) => tab.id === id));
    for (const [at, { panel }] of all.entries()) {
      const chosen = at === index;
      panel.hidden = !chosen;
      buttons[at]?.setAttribute("aria-selected", String(chosen));
      buttons[at]?.setAttribute("tabindex", chosen ? "0" : "-1");
    }
    if (focus) buttons[index]?.focus();
    const tab = all[index];
    if (!tab) return;
    select(list, { name: tab.id });
    tab.shown?.();
  }

  list.addEventListener("keydown", (event) => {
    const now = buttons.findIndex((button) => button === document.activeElement);
    const next: Record<string, number> = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: all.length - 1 };
    const to = next[event.key];
    const tab = to === undefined || now < 0 ? undefined : all[(to + all.length) % all.length];
    if (!tab) return;
    event.preventDefault();
    choose(tab.id, true);
  });
  return { list, choose };
}
