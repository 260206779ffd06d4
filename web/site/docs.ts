// The repository's markdown as pages: docs/NAME.md becomes docs/NAME.html, with one index to search.
import { cpSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import MarkdownIt from "markdown-it";
import type { Plugin } from "vite";
import { alignByClass } from "./src/aligned_cells.ts";
import { highlighted } from "./src/highlight.ts";

/** A heading and what stands below it; `src/search.ts` reads them. */
export interface Section {
  page: string;
  title: string;
  anchor: string;
  heading: string;
  text: string;
}

type Markdown = InstanceType<typeof MarkdownIt>;

interface Source {
  page: string;
  file: string;
  group: string;
}

interface Rendered extends Source {
  title: string;
  html: string;
  sections: Section[];
}

// The pages for most visitors stand first; every other file of docs/ follows by name, then its tables.
const FIRST: Record<string, [page: string, file: string][]> = {
  "Using it": [
    ["readme", "README.md"],
    ["tokamak-web", "web/tokamak-web/README.md"],
    ["browser", "docs/browser.md"],
    ["models", "docs/tables/models.md"],
    ["options", "docs/options.md"],
    ["serve", "docs/serve.md"],
    ["fields", "docs/tables/fields.md"],
    ["cpp-guide", "docs/cpp-guide.md"],
    ["python", "docs/python.md"],
    ["node", "docs/node.md"],
    ["troubleshooting", "docs/troubleshooting.md"],
  ],
  Features: [
    ["grammars", "docs/grammars.md"],
    ["lora", "docs/lora.md"],
    ["images", "docs/images.md"],
    ["audio", "docs/audio.md"],
    ["memory", "docs/memory.md"],
    ["mcp", "docs/mcp.md"],
    ["tokenizers", "docs/tokenizers.md"],
  ],
};
const QUICK_START = "web/tokamak-web/README.md";
/** Characters of a section that can be searched. */
const SEARCHED = 2000;
/** And of a card. */
const CARD = 130;

const escaped = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");

/** Makes anchors like GitHub's, so that links between the files stay right. */
function anchors(): (heading: string) => string {
  const taken = new Map<string, number>();
  return (heading) => {
    const plain = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").trim().replace(/ /g, "-");
    const count = taken.get(plain) ?? 0;
    taken.set(plain, count + 1);
    return count === 0 ? plain : `${plain}-${count}`;
  };
}

function sources(root: string): Source[] {
  const first = Object.entries(FIRST).flatMap(([group, files]) => files.map(([page, file]) => ({ page, file, group })));
  const below = (folder: string, prefix: string, group: string) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .sort()
      .map((name) => ({ page: `${prefix}${basename(name, ".md")}`, file: `${folder}/${name}`, group }))
      .filter(({ file }) => !first.some((known) => known.file === file));
  return [...first, ...below("docs", "", "How it works"), ...below("docs/tables", "table-", "How it works"), ...below("docs/decisions", "decision-", "Decisions")];
}

/** Links between markdown files lead to their pages; there is no page for anything else in the repository. */
function linkTo(href: string, file: string, known: Map<string, string>): string | null {
  if (/^[a-z]+:/.test(href) || href.startsWith("#")) return href;
  const [path = "", anchor] = href.split("#");
  const target = posix.join(dirname(file), path).replace(/\/$/, "");
  if (target === "docs/decisions") return "../docs.html#pages-decisions";
  const page = known.get(target);
  return page === undefined ? null : `${page}.html${anchor ? `#${anchor}` : ""}`;
}

/** All pages stand in docs/, and so do the pictures that they show. */
const pictureAt = (src: string, file: string) => posix.relative("docs", posix.join(dirname(file), src));

/** Makes wide tables and code scroll by themselves, and reachable by keyboard. */
function renderer(): Markdown {
  const markdown = new MarkdownIt({ html: false, linkify: false, highlight: highlighted });
  const { rules } = markdown.renderer;
  rules["table_open"] = () => '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n';
  rules["table_close"] = () => "</table></div>\n";
  alignByClass(markdown);
  const { fence } = rules;
  rules["fence"] = (...all) => (fence?.(...all) ?? "").replace("<pre>", '<pre tabindex="0">');
  return markdown;
}

function render(markdown: Markdown, text: string, source: Source, known: Map<string, string>): Rendered {
  const tokens = markdown.parse(text, {});
  const anchorOf = anchors();
  const sections: Section[] = [];
  let title = "";
  for (const [index, token] of tokens.entries()) {
    const inline = tokens[index + 1];
    if (token.type === "heading_open" && inline) {
      const heading = inline.content.replace(/[`*]/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
      title ||= heading;
      const anchor = anchorOf(heading);
      token.attrSet("id", anchor);
      sections.push({ page: source.page, title, anchor, heading, text: "" });
    }
    for (const child of token.children ?? []) {
      if (child.type === "image") child.attrSet("src", pictureAt(String(child.attrGet("src")), source.file));
      if (child.type !== "link_open") continue;
      const href = linkTo(String(child.attrGet("href")), source.file, known);
      if (href === null) child.attrs = null;
      else child.attrSet("href", href);
    }
    const last = sections.at(-1);
    const isHeading = tokens[index - 1]?.type === "heading_open";
    if (last && !isHeading && (token.type === "inline" || token.type === "fence")) {
      last.text += `${plain(token.content)} `;
    }
  }
  return { ...source, title, sections, html: markdown.renderer.render(tokens, markdown.options, {}) };
}

/** Markdown as it reads: marks and the targets of links left out. */
function plain(text: string): string {
  return text.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "").replace(/\s+/g, " ");
}

/** The list of pages; `folder` leads to them from where it stands. */
function contents(made: Rendered[], current: string, folder: string): string {
  const link = ({ page, title }: Rendered) =>
    `<li><a href="${folder}${page}.html"${page === current ? ' aria-current="page"' : ""}>${escaped(title)}</a></li>`;
  return [...new Set(made.map(({ group }) => group))]
    .map((group) => {
      const links = made.filter((one) => one.group === group).map(link);
      return `<p class="group" id="pages-${group.toLowerCase().replace(/ /g, "-")}">${group}</p>\n<ul>\n${links.join("\n")}\n</ul>`;
    })
    .join("\n");
}

/** The pages for most visitors, each with its first sentence. */
function cards(made: Rendered[]): string {
  const card = ({ page, title, sections }: Rendered) => {
    const first = sections.find(({ text }) => text !== "")?.text ?? "";
    const whole = /^.*?\.(?= )/.exec(first)?.[0] ?? first;
    const sentence = whole.length <= CARD ? whole : `${whole.slice(0, whole.lastIndexOf(" ", CARD))} …`;
    return `<li><a href="docs/${page}.html"><strong>${escaped(title)}</strong><span>${escaped(sentence)}</span></a></li>`;
  };
  const group = made[0]?.group;
  return `<ul class="cards">\n${made.filter((one) => one.group === group).map(card).join("\n")}\n</ul>`;
}

/** The first example of the package's README, which docs.html shows with a button that runs it. */
function quickStart(markdown: Markdown, root: string): string {
  const tokens = markdown.parse(readFileSync(join(root, QUICK_START), "utf8"), {});
  const example = tokens.find(({ type, info }) => type === "fence" && info === "js");
  if (!example) throw new Error(`${QUICK_START} has no example.`);
  return markdown.renderer.render([example], markdown.options, {});
}

/** docs/NAME.html for each file, from docs.html; docs/search.json; the contents of docs.html itself. */
export function docs(root: string): Plugin {
  return {
    name: "docs",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      const shell = bundle["docs.html"];
      if (shell?.type !== "asset") return;
      const frame = String(shell.source);
      const markdown = renderer();
      const list = sources(root);
      const known = new Map(list.map(({ page, file }) => [file, page]));
      const made = list.map((source) =>
        render(markdown, readFileSync(join(root, source.file), "utf8"), source, known),
      );
      const index = made.flatMap(({ sections }) =>
        sections.map((section) => ({ ...section, text: section.text.slice(0, SEARCHED) })),
      );
      this.emitFile({ type: "asset", fileName: "docs/search.json", source: JSON.stringify(index) });
      // Texts have "$&" and the like in them: a function's result is taken as it is.
      const filled = (text: string, title: string, menu: string, html: string) =>
        text
          .replace("<title>Docs", () => `<title>${escaped(title)}`)
          .replace('og:title" content="Docs', () => `og:title" content="${escaped(title)}`)
          .replace("<!--contents-->", () => menu)
          .replace("<!--text-->", () => html);
      for (const { page, title, html } of made) {
        const below = frame.replaceAll('="./', '="../');
        const source = filled(below, title, contents(made, page, ""), html);
        this.emitFile({ type: "asset", fileName: `docs/${page}.html`, source });
      }
      const start = `<h1>Docs</h1>
<p>An inference engine that runs in a browser tab and natively, and what stands in its repository about it. A model in
a page takes these lines:</p>
${quickStart(markdown, root)}<h2>Using it</h2>
${cards(made)}`;
      shell.source = filled(frame, "Docs", contents(made, "", "docs/"), start);
    },
    writeBundle: ({ dir = "dist" }) => cpSync(join(root, "docs/pictures"), join(dir, "docs/pictures"), { recursive: true }),
  };
}
