// The list of kernels: searched and filtered, and gone through with the arrow keys, in the search too.
import { select as chooseInAddress, selection } from "../address.ts";
import { h } from "../dom.ts";
import type { Kernel } from "./data.ts";

export interface KernelList {
  readonly element: HTMLElement;
  /** Shows a word beside a kernel, as what came of compiling it. */
  note(name: string, text: string, kind: "right" | "wrong"): void;
  /** Chooses the kernel of that name, whatever the filters are. */
  choose(name: string): void;
}

function options(values: string[], all: string): HTMLOptionElement[] {
  return [h("option", { value: "" }, all), ...values.map((value) => h("option", { value }, value))];
}

function about({ needs, lacks, launches }: Kernel): string {
  const parts = [needs.length > 0 ? `needs ${needs.join(", ")}` : "", lacks.length > 0 ? "not on this device" : ""];
  if (launches.length > 0) parts.push(`${launches.length} step${launches.length === 1 ? "" : "s"}`);
  return parts.filter(Boolean).join(" · ");
}

export function kernelList(kernels: Kernel[], chosen: (kernel: Kernel) => void): KernelList {
  const notes = new Map<string, HTMLElement>();
  let visible: Kernel[] = [];
  let selected: Kernel | undefined;

  const search = h("input", { type: "search", "aria-label": "Search for kernels", placeholder: "Search: linear subgroup", "aria-controls": "kernel-list", autocomplete: "off", spellcheck: "false" });
  const op = h("select", { "aria-label": "Operation" }, ...options([...new Set(kernels.map((one) => one.op))].sort(), "every operation"));
  const needs = h("select", { "aria-label": "What it needs" }, ...options(["nothing", ...new Set(kernels.flatMap((one) => one.needs))], "whatever it needs"));
  const used = h("input", { type: "checkbox", checked: kernels.some((one) => one.launches.length > 0) });
  const count = h("p", { class: "status", role: "status" });
  const list = h("ul", { role: "listbox", tabindex: 0, id: "kernel-list", class: "list", "aria-label": "Kernels" });

  const rows = new Map(
    kernels.map((kernel, index) => {
      const note = h("span", { class: "note" });
      notes.set(kernel.name, note);
      const row = h(
        "li",
        { role: "option", id: `kernel-${index}`, "aria-selected": "false", onclick: () => select(kernel) },
        h("span", { class: "mono" }, kernel.name),
        h("span", { class: "faint" }, about(kernel), note),
      );
      return [kernel, row] as const;
    }),
  );

  function fits(kernel: Kernel): boolean {
    const words = search.value.toLowerCase().split(/\s+/);
    if (!words.every((word) => kernel.name.includes(word))) return false;
    if (op.value && kernel.op !== op.value) return false;
    if (needs.value === "nothing" && kernel.needs.length > 0) return false;
    if (needs.value && needs.value !== "nothing" && !kernel.needs.includes(needs.value)) return false;
    return !used.checked || kernel.launches.length > 0;
  }

  function filter(): void {
    visible = kernels.filter(fits);
    list.replaceChildren(...visible.map((kernel) => rows.get(kernel) ?? ""));
    count.textContent = `${visible.length} of ${kernels.length} kernels`;
    const kept = visible.find((kernel) => kernel === selected) ?? visible[0];
    if (kept) select(kept);
    else list.removeAttribute("aria-activedescendant");
  }

  function select(kernel: Kernel): void {
    const row = rows.get(kernel);
    if (!row) return;
    if (selected) rows.get(selected)?.setAttribute("aria-selected", "false");
    row.setAttribute("aria-selected", "true");
    for (const one of [list, search]) one.setAttribute("aria-activedescendant", row.id);
    // Only the list scrolls, not the page.
    if (row.offsetTop < list.scrollTop) list.scrollTop = row.offsetTop;
    const end = row.offsetTop + row.offsetHeight;
    if (end > list.scrollTop + list.clientHeight) list.scrollTop = end - list.clientHeight;
    if (selected === kernel) return;
    selected = kernel;
    chooseInAddress(list, { name: kernel.name });
    chosen(kernel);
  }

  function onKey(event: KeyboardEvent): void {
    const now = visible.findIndex((kernel) => kernel === selected);
    const page = 10;
    const moves: Record<string, number> = { ArrowDown: now + 1, ArrowUp: now - 1, PageDown: now + page, PageUp: now - page };
    // In the search these two move the caret.
    if (event.target === list) Object.assign(moves, { Home: 0, End: visible.length - 1 });
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const kernel = visible[Math.max(0, Math.min(visible.length - 1, to))];
    if (kernel) select(kernel);
  }

  for (const one of [search, op, needs, used]) one.addEventListener("input", filter);
  search.addEventListener("keydown", onKey);
  list.addEventListener("keydown", onKey);
  search.setAttribute("role", "combobox");
  search.setAttribute("aria-expanded", "true");
  search.setAttribute("aria-autocomplete", "list");
  const element = h(
    "div",
    {},
    h("div", { class: "row" }, search),
    h("div", { class: "row filters" }, op, needs, h("label", { class: "check" }, used, "used by the model")),
    count,
    list,
  );
  // The address names a kernel, which the filters may hide.
  const asked = kernels.find(({ name }) => name === selection().name);
  if (asked) used.checked &&= asked.launches.length > 0;
  filter();
  if (asked) select(asked);
  return {
    element,
    choose: (name) => {
      const kernel = kernels.find((one) => one.name === name);
      if (!kernel) return;
      if (!visible.includes(kernel)) {
        search.value = op.value = needs.value = "";
        filter();
      }
      select(kernel);
    },
    note: (name, text, kind) => {
      const note = notes.get(name);
      if (!note) return;
      note.textContent = text;
      note.className = `note ${kind}`;
    },
  };
}
