// The package as npm packs it, in an empty project: the README's ten lines run from Vite's dev server, and as Vite, webpack and esbuild build them.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { build as esbuild } from "esbuild";
import { build, createServer, preview } from "vite";
import webpack from "webpack";
import { expect, test } from "./pages.ts";
import { TALKING } from "./pages_server.ts";

const WEB = join(import.meta.dirname, "..");
const npm = (folder: string, ...given: string[]) =>
  execFileSync("npm", [...given, "--offline", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder, encoding: "utf8" }).trim();

/** The first example of the README, with a model that is there and without a GPU. */
function example(): string {
  const readme = readFileSync(join(WEB, "tokamak-web/README.md"), "utf8");
  const lines = /```js\n([^]*?)```/.exec(readme)![1]!;
  const changed = lines.replace('"Qwen/Qwen3-0.6B"', '"/model/"').replace("onProgress:", 'backend: "cpu", wait: location.hash.slice(1), onProgress:').replace("maxTokens: 200", "maxTokens: 20");
  expect(changed).not.toContain("Qwen");
  expect(changed.match(/backend: "cpu", wait|maxTokens: 20\b/g)).toHaveLength(2);
  return `${changed}\ndocument.title = \`\${finish} after \${promptTokens}: \${decodeSeconds > 0}\`;\n`;
}

/** A page that keeps a note and finds it. */
const NOTES = `import { open } from "tokamak-web";
import { memory } from "tokamak-web/memory";
const engine = await open("/model/", { backend: "cpu", pooling: "mean", memory });
await engine.memory("notes").add("Foxes sleep by day.");
document.title = (await engine.memory("notes").search("When do foxes sleep?"))[0].text;
`;

let folder: string;
test.beforeAll(({ server: _ }) => {
  folder = mkdtempSync(join(tmpdir(), "tokamak-"));
  const packed = npm(join(WEB, "tokamak-web"), "pack", "--pack-destination", folder).split("\n").at(-1)!;
  writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true, "type": "module" }');
  npm(folder, "install", join(folder, packed));
  writeFileSync(join(folder, "index.html"), '<!doctype html><link rel="icon" href="data:," /><body><script type="module" src="./main.js"></script></body>');
  writeFileSync(join(folder, "main.js"), example());
  cpSync(TALKING, join(folder, "public/model"), { recursive: true });
});
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function runs(page: Page, server: { address(): AddressInfo | string | null }): Promise<void> {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  // Browsers without JSPI take another module, which a bundler has to find as well.
  for (const wait of ["jspi", "asyncify"]) {
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/?${wait}#${wait}`);
    await expect(page).toHaveTitle(/^length after \d+: true$/);
    expect((await page.locator("body").textContent())!.length).toBeGreaterThan(5);
  }
  expect(errors).toEqual([]);
}

const COMMON = { configFile: false, logLevel: "error" } as const;
const ON_LOOPBACK = { host: "127.0.0.1", port: 0 };

test("the README's example runs from Vite's development server", async ({ context }) => {
  const dev = await createServer({ ...COMMON, root: folder, server: ON_LOOPBACK, optimizeDeps: { exclude: ["tokamak-web"] } });
  await dev.listen();
  await runs(await context.newPage(), dev.httpServer as never);
  await dev.close();
});

test("the README's example runs as Vite builds it", async ({ context }) => {
  await build({ ...COMMON, root: folder });
  expect(readdirSync(join(folder, "dist/assets")).filter((name) => name.includes("sqlite")), "SQLite where there is no memory").toEqual([]);
  const built = await preview({ ...COMMON, root: folder, preview: ON_LOOPBACK });
  await runs(await context.newPage(), built.httpServer as never);
  await built.close();
});

/** Gives out what another bundler has written, with the page and the model beside it. */
async function runsBuilt(page: Page, outDir: string, then?: (address: string) => Promise<void>): Promise<void> {
  cpSync(join(folder, "index.html"), join(folder, outDir, "index.html"));
  cpSync(TALKING, join(folder, outDir, "model"), { recursive: true });
  const built = await preview({ ...COMMON, appType: "mpa", root: folder, build: { outDir }, preview: ON_LOOPBACK });
  await runs(page, built.httpServer as never);
  await then?.(`http://127.0.0.1:${(built.httpServer.address() as AddressInfo).port}/`);
  await built.close();
}

test("the README's example runs as webpack builds it, and a memory", async ({ context }) => {
  writeFileSync(join(folder, "notes.js"), NOTES);
  const compiler = webpack({ mode: "production", context: folder, entry: { main: "./main.js", notes: "./notes.js" }, output: { path: join(folder, "webpack") }, performance: false });
  const stats = await new Promise<webpack.Stats>((resolve, reject) => compiler.run((error, found) => (error ? reject(error) : resolve(found!))));
  expect(stats.toJson({ all: false, errors: true, warnings: true })).toMatchObject({ errors: [], warnings: [] });
  await new Promise((resolve) => compiler.close(resolve));
  writeFileSync(join(folder, "webpack/notes.html"), '<!doctype html><script type="module" src="./notes.js"></script>');
  const page = await context.newPage();
  await runsBuilt(page, "webpack", async (address) => {
    await page.goto(`${address}notes.html`);
    await expect(page).toHaveTitle("Foxes sleep by day.");
  });
});

test("the README's example runs as esbuild builds it, with the package's files beside it", async ({ context }) => {
  const readme = readFileSync(join(WEB, "tokamak-web/README.md"), "utf8");
  const given = [...readme.matchAll(/`((?:worker|wasm): "\/tokamak-web\/[^`]+)`/g)].map((one) => one[1]);
  expect(given).toHaveLength(2);
  const contents = example().replace("backend:", `${given.join(", ")}, backend:`);
  await esbuild({ stdin: { contents, resolveDir: folder }, bundle: true, format: "esm", target: "es2023", outfile: join(folder, "esbuild/main.js"), logLevel: "error" });
  cpSync(join(folder, "node_modules/tokamak-web/dist"), join(folder, "esbuild/tokamak-web"), { recursive: true });
  await runsBuilt(await context.newPage(), "esbuild");
});

test("one import from another origin runs, and what does not start has its address in the error", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address.replace("127.0.0.1", "localhost")}tiny/config.json`);
  const found = await page.evaluate(async (address) => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const engine = await open("/talking/", { backend: "cpu" });
    const { text } = await engine.generate("Hello", { maxTokens: 20, temperature: 0 }).result;
    await engine.close();
    const failure = (options: object) => open("/talking/", options).then(() => "it is open", (error: Error) => `${error.name}: ${error.message}`);
    return { text, wrong: await failure({ worker: "/nothing.js" }), unknown: await failure({ contxt: 5 }) };
  }, server.address);
  expect(found.text.length).toBeGreaterThan(5);
  expect(found.wrong).toMatch(/^TokamakError: .*http:\/\/localhost:\d+\/nothing\.js cannot be loaded\. .*`worker` and `wasm`/);
  expect(found.unknown).toBe('TokamakError: "contxt" is no option of open; did you mean "context"?');
});
