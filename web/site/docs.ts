// The repository's markdown as pages: docs/NAME.md becomes docs/NAME.html, with one index to search.
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import MarkdownIt from "markdown-it";
import type { Plugin } from "vite";

interface Section {
  page: string;
  title: string;
  anchor: string;
  heading: string;
  text: string;
}

const anchorOf = (heading: string) =>
  heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").trim().replace(/ /g, "-");

/** README first, then the guides, then the decisions. */
function sources(root: string): { page: string; file: string }[] {
  const below = (folder: string, prefix: string) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .sort()
      .map((name) => ({ page: `${prefix}${basename(name, ".md")}`, file: `${folder}/${name}` }));
  return [
    { page: "readme", file: "README.md" },
    { page: "tokamak-web", file: "web/tokamak-web/README.md" },
    ...below("docs", ""),
    ...below("docs/decisions", "decision-"),
  ];
}

/** Links between markdown files lead to their pages; others to the repository are left as text. */
function linkTo(href: string, known: Map<string, string>): string | null {
  if (/^[a-z]+:/.test(href) || href.startsWith("#")) return href;
  const [path = "", anchor] = href.split("#");
  const page = known.get(basename(path));
  return page === undefined ? null : `${page}.html${anchor ? `#${anchor}` : ""}`;
}

function render(text: string, page: string, known: Map<string, string>) {
  const markdown = new MarkdownIt({ html: false, linkify: false });
  const tokens = markdown.parse(text, {});
  const sections: Section[] = [];
  let title = "";
  for (const [index, token] of tokens.entries()) {
    const inline = tokens[index + 1];
    if (token.type === "heading_open" && inline) {
      const heading = inline.content.replace(/[`*]/g, "");
      title ||= heading;
      token.attrSet("id", anchorOf(heading));
      sections.push({ page, title, anchor: anchorOf(heading), heading, text: "" });
    }
    for (const child of token.children ?? []) {
      if (child.type !== "link_open") continue;
      const href = linkTo(String(child.attrGet("href")), known);
      if (href === null) child.attrs = null;
      else child.attrSet("href", href);
    }
    const last = sections.at(-1);
    if (last && (token.type === "inline" || token.type === "fence")) last.text += `${token.content} `;
  }
  return { title, sections, html: markdown.renderer.render(tokens, markdown.options, {}) };
}

/** Makes the pages while building, from docs-page.html, and docs/search.json. */
export function docs(root: string): Plugin {
  return {
    name: "docs",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      const shell = bundle["docs.html"];
      if (shell?.type !== "asset") return;
      const frame = String(shell.source);
      const list = sources(root);
      const known = new Map(list.map(({ page, file }) => [basename(file), page]));
      known.set("README.md", "readme");
      const made = list.map(({ page, file }) => ({ page, ...render(readFileSync(join(root, file), "utf8"), page, known) }));
      const index = made.flatMap((one) => one.sections.map((section) => ({ ...section, text: section.text.slice(0, 2000) })));
      this.emitFile({ type: "asset", fileName: "docs/search.json", source: JSON.stringify(index) });
      const contents = (current: string) =>
        made.map(({ page, title }) => `<li><a href="${page}.html"${page === current ? ' aria-current="page"' : ""}>${title.replace(/</g, "&lt;")}</a></li>`).join("\n");
      for (const { page, title, html } of made) {
        const below = frame.replaceAll('="./', '="../');
        this.emitFile({
          type: "asset",
          fileName: `docs/${page}.html`,
          source: below
            .replace("<title>Docs", `<title>${title.replace(/</g, "&lt;")}`)
            .replace("<!--contents-->", contents(page))
            .replace("<!--text-->", html),
        });
      }
      shell.source = frame.replace("<!--contents-->", contents("").replaceAll('href="', 'href="docs/')).replace("<!--text-->", "");
    },
  };
}
