// The page that `tokamak profile --html` writes, as a module of the site: "virtual:profile-page" has its
// markup and its scripts as a function, and its style sheet holds below ".profile" only. Nothing is
// drawn twice.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const ID = "virtual:profile-page";
// In the order in which src/report/profile/profile_page.cpp puts them together.
const SCRIPTS = ["common.js", "timeline.js", "roofline.js", "profile.js"];

/** The element with that id, with all that is in it; there is none of its kind inside. */
function element(page: string, tag: string, id: string): string {
  const found = new RegExp(`<${tag} id="${id}"[^]*?</${tag}>`).exec(page)?.[0];
  if (!found) throw new Error(`profile.html has no ${tag} "${id}".`);
  return found;
}

/** The markup between the tags: the chart first, then the figures, and where they are from at the end. */
function markup(page: string): string {
  const main = /<main>([^]*)<\/main>/.exec(page)?.[1] ?? "";
  const [title, about, origin, figures] = [element(page, "h1", "title"), element(page, "p", "about"), element(page, "dl", "origin"), element(page, "dl", "figures")];
  const timeline = element(main, "section", "timeline");
  const rest = main.replace(/<noscript>[^]*?<\/noscript>/, "").replace(timeline, "");
  // The site's page has the heading of the first level.
  return title.replaceAll("h1", "h2") + timeline + figures + rest + about + origin;
}

export function profilePage(root: string): Plugin {
  const folder = join(root, "src/report/page");
  return {
    name: "profile-page",
    enforce: "pre",
    resolveId: (id) => (id === ID ? `\0${ID}` : null),
    load(id) {
      if (id !== `\0${ID}`) return null;
      const paths = [...SCRIPTS, "profile.html"].map((name) => join(folder, name));
      for (const path of paths) this.addWatchFile(path);
      const [html = "", ...scripts] = paths.map((path) => readFileSync(path, "utf8")).toReversed();
      const script = scripts.toReversed().join("\n");
      return `export const markup = ${JSON.stringify(markup(html))};
export function draw() {
${script}
return {steps, select, selected: () => selected};
}`;
    },
    transform(code, id) {
      if (!id.split("?")[0]?.endsWith("report/page/profile.css")) return null;
      const own = code.replace(/^(:root|body) \{/gm, "& {").replace("color-scheme: light dark;", "");
      return `.profile {\n${own}\n}`;
    },
  };
}
