// The first elements of every page's head: which characters, and what a page may load.
import type { Plugin } from "vite";

/** The origin of other engines for the page bench, when its visitor wants one. */
const ENGINES = "https://cdn.jsdelivr.net";

const policy = (isBench: boolean) => [
  "default-src 'none'",
  `script-src 'self' 'wasm-unsafe-eval'${isBench ? ` ${ENGINES}` : ""}`,
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self' https:", // models that a visitor names
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const head = (isBench: boolean) => `
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta http-equiv="Content-Security-Policy" content="${policy(isBench)}" />
    <link rel="stylesheet" href="./src/style.css" />
    <link rel="manifest" href="./manifest.webmanifest" />
    <link rel="icon" href="./icon.svg" />`;

/** Puts it there before vite looks for what the page loads. */
export function headOfPages(): Plugin {
  return {
    name: "head",
    transformIndexHtml: { order: "pre", handler: (html, { path }) => html.replace("<head>", `<head>${head(path.endsWith("/bench.html"))}`) },
  };
}
