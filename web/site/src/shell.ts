// The frame of all pages: the header with the other pages, the colour scheme, errors in sight.
import { h } from "./dom.ts";

const PAGES = [
  ["index", "Chat"],
  ["listen", "Listen"],
  ["speak", "Speak"],
  ["talk", "Talk"],
  ["memory", "Memory"],
  ["timeline", "Timeline"],
  ["kernels", "Kernels"],
  ["inspect", "Inspect"],
  ["validate", "Validate"],
  ["bench", "Bench"],
  ["docs", "Docs"],
] as const;
export type PageName = (typeof PAGES)[number][0];

const SCHEME = "tokamak.scheme";

function applyScheme(scheme: string | null): void {
  if (scheme) document.documentElement.dataset["scheme"] = scheme;
  else delete document.documentElement.dataset["scheme"];
}

function schemeButton(): HTMLButtonElement {
  const isDark = () =>
    (document.documentElement.dataset["scheme"] ??
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = h("button", { type: "button", class: "quiet scheme" });
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Change to ${isDark() ? "light" : "dark"} colours`);
  };
  button.addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    localStorage.setItem(SCHEME, next);
    applyScheme(next);
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
  return button;
}

/** Puts the header before the page's `main`, whose address is below `base` ("./" or "../"). */
export function startPage(current: PageName, base = "./"): void {
  applyScheme(localStorage.getItem(SCHEME));
  const links = PAGES.map(([name, title]) =>
    h("a", { href: `${base}${name === "index" ? "" : `${name}.html`}`, "aria-current": name === current && "page" }, title),
  );
  document.body.prepend(
    h("a", { class: "skip", href: "#main" }, "Skip to the content"),
    h(
      "header",
      {},
      h("a", { class: "brand", href: base }, "Tokamak"),
      h("nav", { "aria-label": "Pages" }, ...links),
      schemeButton(),
    ),
  );
  if ("serviceWorker" in navigator && import.meta.env.PROD) {
    void navigator.serviceWorker.register(new URL(`${base}sw.js`, document.baseURI));
  }
}

/** Shows what went wrong, in a sentence, at the top of `place`. */
export function showError(place: HTMLElement, error: unknown): void {
  place.querySelector(":scope > .error")?.remove();
  const { message, code } = error as { message?: string; code?: string };
  const text = message ?? String(error);
  place.prepend(h("p", { class: "error", role: "alert" }, code ? `${text} (${code})` : text));
}
