// The pages of the documentation: the search, the list of pages, and the example that can be run.
import { byId, h } from "./dom.ts";
import { exampleOf, makeRunnable, ownEngine } from "./run_example.ts";
import { mountSearch } from "./search.ts";
import { keepOffline, showError, startPage } from "./shell.ts";

const base = /\/docs\/[^/]*$/.test(location.pathname) ? "../" : "./";
startPage(base);
mountSearch(byId("search"), base);

// A wide window has the list open beside the text. It is closed without scripts, which is well.
const contents = byId<HTMLDetailsElement>("contents");
const wide = matchMedia("(min-width: 900px)");
const follow = () => (contents.open = wide.matches);
wide.addEventListener("change", follow);
follow();
contents.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

// A page that was read is kept by itself; the others only if somebody wants them.
if ("serviceWorker" in navigator) {
  const button = h("button", { type: "button", class: "quiet" }, "Keep all pages for offline use");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await keepOffline({ folder: "docs/" });
      button.textContent = "All pages are kept";
    } catch (error) {
      button.disabled = false;
      showError(contents, error);
    }
  });
  contents.append(h("p", {}, button));
}

const opened = ownEngine(base);
for (const code of document.querySelectorAll<HTMLElement>("pre > code.language-js")) {
  const example = exampleOf(code.textContent ?? "");
  if (example && code.parentElement) makeRunnable(code.parentElement, opened, example);
}
