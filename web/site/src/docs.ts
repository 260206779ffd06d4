// The pages of the documentation: the search, the list of pages, and the example that can be run.
import { byId } from "./dom.ts";
import { exampleOf, makeRunnable } from "./run_example.ts";
import { mountSearch } from "./search.ts";
import { startPage } from "./shell.ts";

const base = /\/docs\/[^/]*$/.test(location.pathname) ? "../" : "./";
startPage("docs", base);
mountSearch(byId("search"), base);

// A wide window has the list open beside the text. It is closed without scripts, which is well.
const contents = byId<HTMLDetailsElement>("contents");
const wide = matchMedia("(min-width: 900px)");
const follow = () => (contents.open = wide.matches);
wide.addEventListener("change", follow);
follow();
// On narrow screens docs.html is the list of pages.
if (base === "./") contents.open = true;
contents.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

for (const code of document.querySelectorAll<HTMLElement>("pre > code.language-js")) {
  const example = exampleOf(code.textContent ?? "");
  if (example && code.parentElement) makeRunnable(code.parentElement, base, example);
}
