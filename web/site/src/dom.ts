// Elements without a framework.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | EventListener>;

/**
 * An element with its attributes and children. Attributes that are false, null or undefined are left
 * out, true ones are empty; functions are listeners: { onclick: f }.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => !!child));
  return element;
}

/** The element with that id. A page that lacks it is broken. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element "${id}".`);
  return found as T;
}

/** A table; numbers stand to the right, and what is in the columns from `numbersFrom` on: numbers with their units. */
export function table(titles: string[], rows: (string | number | Node)[][], numbersFrom = titles.length): HTMLTableElement {
  const isNumber = (value: unknown, at: number) => (typeof value === "number" || at >= numbersFrom) && "number";
  const cell = (value: string | number | Node, at: number) =>
    h("td", { class: isNumber(value, at) }, value instanceof Node ? value : String(value));
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...titles.map((title, at) => h("th", { scope: "col", class: isNumber(rows[0]?.[at], at) }, title)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map(cell)))),
  );
}

/** Copies a text and says so on the button for a moment. */
export function copyButton(text: () => string, label = "Copy"): HTMLButtonElement {
  const button = h("button", { type: "button", class: "quiet" }, label);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text());
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}

/** Offers a text as a file. */
export function download(name: string, text: string, type = "application/json"): void {
  downloadFile(name, new Blob([text], { type }));
}

/** Offers a file. */
export function downloadFile(name: string, file: Blob): void {
  const url = URL.createObjectURL(file);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
