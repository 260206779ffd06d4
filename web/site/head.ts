// What every page has in its head, first: which characters, and what a page may load.
import type { Plugin } from "vite";

const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self' https:", // models that a visitor names
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const HEAD = `
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
    <link rel="stylesheet" href="./src/style.css" />
    <link rel="manifest" href="./manifest.webmanifest" />
    <link rel="icon" href="./icon.svg" />`;

/** Puts it there before vite looks for what the page loads. */
export function head(): Plugin {
  return {
    name: "head",
    transformIndexHtml: { order: "pre", handler: (html) => html.replace("<head>", `<head>${HEAD}`) },
  };
}
