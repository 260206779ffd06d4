// Three builds: the page's modules, (--mode worker) the Worker as one classic script, since module
// Workers fail in some browsers' web views, and (--mode sqlite) what it loads for memories.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { LibraryOptions, Plugin } from "vite";
import { defineConfig } from "vitest/config";

const MODULES = ["tokamak_web", "tokamak_web_whole"].flatMap((name) => [`${name}.wasm`, `${name}.asyncify.wasm`]);

/** The license, and the modules and their twins where ./dev build wasm has made them. */
function copyBeside(): Plugin {
  const root = join(import.meta.dirname, "../..");
  const sqlite = "web/node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3.wasm";
  const files = ["LICENSE", sqlite, ...MODULES.map((name) => `build/web/${name}`)];
  return {
    name: "copy-beside",
    writeBundle: ({ dir = "dist" }) => {
      for (const file of files.map((name) => join(root, name)).filter(existsSync)) {
        copyFileSync(file, join(dir, basename(file)));
      }
    },
  };
}

const ADDRESSES: Record<string, string> = {
  TOKAMAK_WORKER_URL: "worker.js",
  TOKAMAK_WASM_URL: "tokamak_web.wasm",
  TOKAMAK_WASM_TWIN_URL: "tokamak_web.asyncify.wasm",
  TOKAMAK_WHOLE_URL: "tokamak_web_whole.wasm",
  TOKAMAK_WHOLE_TWIN_URL: "tokamak_web_whole.asyncify.wasm",
  TOKAMAK_SQLITE_URL: "sqlite.js",
  TOKAMAK_SQLITE_WASM_URL: "sqlite3.wasm",
};

/** The files beside the package, by an expression that this build would itself follow, and which build it is. */
function addresses(): Plugin {
  return {
    name: "addresses",
    generateBundle: (_options, bundle) => {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") continue;
        const hash = createHash("sha256").update(chunk.code).digest("hex");
        chunk.code = chunk.code.replaceAll("TOKAMAK_BUILD", JSON.stringify(hash.slice(0, 16)));
        for (const [name, file] of Object.entries(ADDRESSES)) {
          chunk.code = chunk.code.replaceAll(name, `new URL("./${file}",import.meta.url)`);
        }
      }
    },
  };
}

/** SQLite's script looks for files beside it that this build would put into it; it is told where its module is. */
function withoutFiles(): Plugin {
  return {
    name: "without-files",
    enforce: "pre",
    transform: (code, id) => (id.includes("sqlite-wasm") ? code.replaceAll(", import.meta.url)", ", self.location.href)") : null),
  };
}

/** Keeps the script that the Worker imports by its address out of bundles: webpack, which bundles Workers, would look for it there. */
function withoutBundlers(): Plugin {
  return {
    name: "without-bundlers",
    generateBundle: (_options, bundle) => {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === "chunk") chunk.code = chunk.code.replace(/\bawait import\((?=\w+\))/, "$&/* webpackIgnore: true */");
      }
    },
  };
}

const LIBRARIES: Record<string, LibraryOptions> = {
  worker: { entry: "src/worker.ts", formats: ["iife"], name: "tokamak", fileName: () => "worker.js" },
  sqlite: { entry: "src/sqlite.ts", formats: ["es"], fileName: () => "sqlite.js" },
};
const PAGE: LibraryOptions = { entry: { index: "src/index.ts", memory: "src/memory.ts", openai: "src/openai.ts" }, formats: ["es"] };

export default defineConfig(({ mode }) => ({
  build: {
    target: "es2023",
    minify: true,
    emptyOutDir: !(mode in LIBRARIES),
    lib: LIBRARIES[mode] ?? PAGE,
  },
  plugins: [addresses(), copyBeside(), withoutFiles(), withoutBundlers()],
  test: { include: ["test/**/*.test.ts"] },
}));
