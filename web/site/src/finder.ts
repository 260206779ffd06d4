// A long text to read: search within, with marks and "next"; copy; save.
import { copyButton, download, h } from "./dom.ts";
import { highlighted } from "./highlight.ts";

const MOST_MARKS = 5000;

/** The places of `part` in `text`, without regard to case. */
export function places(text: string, part: string): number[] {
  const found: number[] = [];
  if (!part) return found;
  const lower = text.toLowerCase();
  const wanted = part.toLowerCase();
  for (let at = lower.indexOf(wanted); at >= 0 && found.length < MOST_MARKS; at = lower.indexOf(wanted, at + wanted.length)) {
    found.push(at);
  }
  return found;
}

export interface Finder {
  readonly element: HTMLElement;
  /** `name`: of the file that "Save" offers. */
  show(text: string, name: string): void;
}

/** `label` says what the text is, for those who do not see it. Code of a language has its colours until something is searched. `tools` stand before the search. */
export function finder(label: string, { language }: { language?: string } = {}, ...tools: HTMLElement[]): Finder {
  let text = "";
  let file = "text.txt";
  let marks: HTMLElement[] = [];
  let current = -1;
  const search = h("input", { type: "search", "aria-label": `Search in ${label}`, placeholder: "Search", autocomplete: "off", spellcheck: "false" });
  const count = h("span", { class: "faint count", role: "status" });
  const next = h("button", { type: "button", class: "quiet", "aria-label": "Next place", onclick: () => go(1) }, "↓");
  const last = h("button", { type: "button", class: "quiet", "aria-label": "Place before", onclick: () => go(-1) }, "↑");
  const save = h("button", { type: "button", class: "quiet", onclick: () => download(file, text, "text/plain") }, "Save");
  const shown = h("pre", { tabindex: 0, role: "region", "aria-label": label });
  const bar = h("div", { class: "row", role: "search" }, ...tools, search, last, next, count, copyButton(() => text), save);

  function mark(): void {
    const part = search.value;
    const found = places(text, part);
    const nodes: (Node | string)[] = [];
    let end = 0;
    marks = found.map((at) => {
      const one = h("mark", {}, text.slice(at, at + part.length));
      nodes.push(text.slice(end, at), one);
      end = at + part.length;
      return one;
    });
    if (language && found.length === 0) shown.innerHTML = highlighted(text, language);
    else shown.replaceChildren(...nodes, text.slice(end));
    current = -1;
    last.disabled = next.disabled = marks.length === 0;
    count.textContent = part && marks.length === 0 ? "nowhere" : "";
    if (marks.length > 0) go(1);
  }

  function go(by: number): void {
    if (marks.length === 0) return;
    marks[current]?.classList.remove("current");
    current = (current + by + marks.length) % marks.length;
    const one = marks[current];
    one?.classList.add("current");
    // Only the text scrolls: a search field that leaves the screen while someone types helps nobody.
    if (one) {
      shown.scrollTop = one.offsetTop - shown.clientHeight / 2;
      shown.scrollLeft = Math.max(0, one.offsetLeft - shown.clientWidth + 120);
    }
    count.textContent = `${current + 1} of ${marks.length}${marks.length === MOST_MARKS ? " or more" : ""}`;
  }

  search.addEventListener("input", mark);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  });
  return {
    element: h("div", { class: "finder" }, bar, shown),
    show: (given, name) => {
      text = given;
      file = name;
      mark();
    },
  };
}
