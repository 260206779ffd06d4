// Search over the documentation: all words must be found, headings count more than text.
import type { Section } from "../docs.ts";
import { h } from "./dom.ts";

const SHOWN = 12;
const EXCERPT = 160;

interface Found {
  section: Section;
  score: number;
}

const wordsOf = (query: string) => query.toLowerCase().split(/\s+/).filter(Boolean);

/** The sections that have every word, best first. */
export function find(sections: Section[], query: string): Found[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  const found: Found[] = [];
  for (const section of sections) {
    const heading = section.heading.toLowerCase();
    const title = section.title.toLowerCase();
    const text = section.text.toLowerCase();
    let score = 0;
    for (const word of words) {
      const times = text.split(word).length - 1;
      const own = (heading.includes(word) ? 12 : 0) + (title.includes(word) ? 4 : 0) + Math.min(times, 5);
      if (own === 0) {
        score = 0;
        break;
      }
      score += own;
    }
    if (heading === words.join(" ")) score += 20;
    // A decision is history: the guides come first.
    if (score > 0) found.push({ section, score: section.page.startsWith("decision-") ? score / 2 : score });
  }
  return found.sort((a, b) => b.score - a.score);
}

/** Some text around the first word that is found, with the words marked. */
function excerpt(text: string, words: string[]): HTMLElement {
  const low = text.toLowerCase();
  const at = words.map((word) => low.indexOf(word)).filter((index) => index >= 0);
  const first = at.length > 0 ? Math.min(...at) : 0;
  const from = Math.max(0, text.lastIndexOf(" ", Math.max(0, first - 40)) + 1);
  const end = from + EXCERPT < text.length ? text.lastIndexOf(" ", from + EXCERPT) : text.length;
  const part = text.slice(from, end);
  const escape = (word: string) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pieces = part.split(new RegExp(`(${words.map(escape).join("|")})`, "gi"));
  // split() puts what the group matched at the odd places.
  const marked = pieces.map((piece, index) => (index % 2 === 1 ? h("mark", {}, piece) : piece));
  return h("p", {}, from > 0 && "… ", ...marked, end < text.length && " …");
}

/** The field with its results below. `/` goes to it, the arrows go through the results. */
export function mountSearch(place: HTMLElement, base: string): void {
  const field = h("input", {
    type: "search",
    id: "query",
    placeholder: "Search (/)",
    autocomplete: "off",
    spellcheck: "false",
    "aria-label": "Search the documentation",
  });
  const status = h("p", { class: "visually-hidden", role: "status" });
  const results = h("ul", { class: "results", id: "results", hidden: true, "aria-label": "Results" });
  place.replaceChildren(field, status, results);

  let index: Promise<Section[]> | null = null;
  const load = () =>
    (index ??= fetch(`${base}docs/search.json`).then((reply) => {
      if (!reply.ok) throw new Error(`The index of the search could not be read (${reply.status}).`);
      return reply.json() as Promise<Section[]>;
    }));
  const show = async () => {
    const query = field.value;
    const words = wordsOf(query);
    if (words.length === 0) {
      results.hidden = true;
      status.textContent = "";
      return;
    }
    let found: Found[];
    try {
      found = find(await load(), query);
    } catch (error) {
      index = null;
      results.replaceChildren(h("li", { class: "wrong" }, (error as Error).message));
      results.hidden = false;
      return;
    }
    if (field.value !== query) return; // typed on while the index came
    const items = found.slice(0, SHOWN).map(({ section }) =>
      h(
        "li",
        {},
        h(
          "a",
          { href: `${base}docs/${section.page}.html#${section.anchor}` },
          h("strong", {}, section.heading),
          section.heading !== section.title && h("span", { class: "faint" }, ` ${section.title}`),
          excerpt(section.text, words),
        ),
      ),
    );
    results.replaceChildren(...(items.length > 0 ? items : [h("li", { class: "faint" }, "Nothing has all of these words.")]));
    results.hidden = false;
    status.textContent = `${found.length} ${found.length === 1 ? "result" : "results"}`;
  };
  const clear = () => {
    field.value = "";
    results.hidden = true;
    status.textContent = "";
    field.focus();
  };
  field.addEventListener("focus", () => void load().catch(() => (index = null)), { once: true });
  field.addEventListener("input", () => void show());
  place.addEventListener("keydown", (event) => {
    const links = [...results.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === "Escape") clear();
    else if (event.key === "ArrowDown" && !results.hidden) links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp" && at > 0) links[at - 1]?.focus();
    else if (event.key === "ArrowUp" && at === 0) field.focus();
    else if (event.key === "Enter" && at < 0) links[0]?.click();
    else return;
    event.preventDefault();
  });
  results.addEventListener("click", (event) => {
    // A result on this very page only scrolls, so that the list has to go by itself.
    if ((event.target as Element).closest("a")) results.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    const typing = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
  });
}
