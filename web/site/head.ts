// The parts that all pages have, written at build time, so that nothing moves once scripts run: what a page may load, the colours that
// were chosen, and the header with the other pages.
import { createHash } from "node:crypto";
import type { Plugin } from "vite";
import { GROUPS, type PageLink } from "./pages.ts";

/** The origin of other engines for the page bench, when its visitor wants one. */
const ENGINES = "https://cdn.jsdelivr.net";

/** Before the first paint, or a page that was made dark is white for a moment. Storage may be forbidden. */
const SCHEME = 'try{const s=localStorage.getItem("tokamak.scheme");if(s)document.documentElement.dataset.scheme=s}catch{}';
const SCHEME_HASH = createHash("sha256").update(SCHEME).digest("base64");

const policy = (isBench: boolean) => [
  "default-src 'none'",
  `script-src 'self' 'wasm-unsafe-eval' 'sha256-${SCHEME_HASH}'${isBench ? ` ${ENGINES}` : ""}`,
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self' https:", // models that a visitor names
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const head = (isBench: boolean, isView: boolean) => `
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta http-equiv="Content-Security-Policy" content="${policy(isBench)}" />
    <script>${SCHEME}</script>${isView ? '\n    <script type="module" src="./src/site.ts"></script>' : ""}
    <link rel="stylesheet" href="./src/style.css" />
    <link rel="manifest" href="./manifest.webmanifest" />
    <link rel="icon" href="./icon.svg" />
    <link rel="apple-touch-icon" href="./touch-icon.png" />`;

const TORUS = '<img src="./icon.svg" width="24" height="24" alt="" />';
/** The place that the skip link leads to, where it is not the page's text. */
const PLACES: Record<string, string> = { "chat.html": "message" };

/** The pages that are views of one document; src/router.ts has their scripts. */
const isView = (file: string) => file === "index.html" || GROUPS.some(({ label, pages }) => label !== "Read" && pages.some((page) => page.file === file));

function link({ file, title }: PageLink, current: string): string {
  return `<a href="./${file}"${file === current ? ' aria-current="page"' : ""}>${title}</a>`;
}

function header(current: string): string {
  const groups = GROUPS.map(({ label, pages }) => `<span role="group" aria-label="${label}">${pages.map((page) => link(page, current)).join("")}</span>`);
  return `
    <a class="skip" href="#${PLACES[current] ?? "main"}">Skip to the content</a>
    <header>
      <a class="brand" href="./">${TORUS}Tokamak</a>
      <nav aria-label="Pages">${groups.join("")}</nav>
      <p class="engine" id="engine"></p>
      <button type="button" class="quiet scheme" aria-label="Light or dark colours">◐</button>
    </header>`;
}

/** The address that the site is built for, "https://tokamak.example/": many readers of cards take whole addresses of pictures only. */
const ADDRESS = process.env["TOKAMAK_SITE_ADDRESS"] ?? "./";

/** The tags by which a link to the page becomes a card where it is pasted: its picture, and the page's own title and description. */
function card(html: string): string {
  const title = /<title>(.*?)<\/title>/.exec(html)?.[1];
  const description = /<meta name="description" content="([^"]*)"/.exec(html)?.[1];
  if (title === undefined || description === undefined) return "";
  const own = html.includes("og:title") ? {} : { "og:title": title, "og:description": description, "og:type": "website" };
  const picture = { "og:image": `${ADDRESS.replace(/\/?$/, "/")}card.png`, "og:image:width": "1200", "og:image:height": "630", "og:image:alt": "Tokamak: a language model in this tab" };
  const metas = Object.entries({ ...own, "og:site_name": "Tokamak", ...picture }).map(([name, content]) => `\n    <meta property="${name}" content="${content}" />`);
  return `${metas.join("")}\n    <meta name="twitter:card" content="summary_large_image" />`;
}

const NOSCRIPT = `
      <noscript><p class="error">This page needs JavaScript: the engine is a WebAssembly module that a script of this page runs, in this tab. Nothing is sent anywhere.</p></noscript>`;

/** For hosts that read `_headers`: a Worker has the policy of its own answer, and names with a hash are kept for good. */
export const HEADERS = `/*
  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer
/assets/*
  Content-Security-Policy: ${policy(false)}
  Cache-Control: public, max-age=31536000, immutable
`;

/** Puts them there before vite looks for what the page loads. */
export function headOfPages(): Plugin {
  return {
    name: "head",
    transformIndexHtml: {
      order: "pre",
      handler: (html, { path }) => {
        const file = path.slice(path.lastIndexOf("/") + 1);
        const isDocs = file === "docs.html";
        return html
          .replace("<head>", () => `<head>${head(file === "bench.html", isView(file))}${card(html)}`)
          .replace(/<body[^>]*>/, (body) => `${body}${header(file)}`)
          .replace(/<main id="main"[^>]*>/, (main) => (isDocs ? main : `${main}${NOSCRIPT}`));
      },
    },
  };
}
