// The pages. Beside them go the built-in model and a service worker that knows every file, so that what was used works offline.
import { createHash } from "node:crypto";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { docs } from "./docs.ts";
import { goldens } from "./goldens.ts";
import { HEADERS, headOfPages } from "./head.ts";
import { profilePage } from "./profile_page.ts";

const here = import.meta.dirname;
const root = join(here, "../..");
const dist = join(here, "dist");
const MODEL = join(root, "models/storyteller");
/** The files that the service worker keeps once somebody has needed them, and those that it leaves alone. */
const LATER = /\.wasm$|assets\/sqlite|^docs\/|^goldens\.json$/;
const NEVER = /^models\/|^sw\.js$|^_headers$/;
const MODEL_FILES = /\.(json|jinja|safetensors)$/;
const pages = readdirSync(here).filter((name) => name.endsWith(".html"));

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** The model and the rules for headers beside the site. */
function copied(): Plugin {
  return {
    name: "copied",
    apply: "build",
    writeBundle: () => {
      writeFileSync(join(dist, "_headers"), HEADERS);
      cpSync(MODEL, join(dist, "models/storyteller"), {
        recursive: true,
        filter: (from) => from === MODEL || MODEL_FILES.test(from),
      });
    },
  };
}

/** dist/sw.js: the service worker with the names of all files and their hash, which is its version. */
function offline(): Plugin {
  return {
    name: "offline",
    apply: "build",
    enforce: "post",
    closeBundle: () => {
      const hash = createHash("sha256");
      const files = filesBelow(dist).filter((name) => !NEVER.test(name));
      for (const name of files) hash.update(name).update(readFileSync(join(dist, name)));
      const text = readFileSync(join(here, "src/sw.js"), "utf8")
        .replace("__VERSION__", hash.digest("hex").slice(0, 16))
        .replace("__FILES__", JSON.stringify(files.filter((name) => !LATER.test(name))))
        .replace("__LATER__", JSON.stringify(files.filter((name) => LATER.test(name))));
      writeFileSync(join(dist, "sw.js"), text);
    },
  };
}

export default defineConfig({
  base: "./",
  root: here,
  build: {
    target: "es2023",
    outDir: dist,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: pages.map((name) => join(here, name)),
    },
  },
  test: { include: ["test/**/*.test.ts"] },
  plugins: [headOfPages(), docs(root), goldens(root), profilePage(root), copied(), offline()],
});
