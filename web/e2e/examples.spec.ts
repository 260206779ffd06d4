// The examples, each a project with the package as npm packs it: built, given out and used as a visitor does.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Page, chromium } from "@playwright/test";
import { build, preview } from "vite";
import { expect, test } from "./pages.ts";
import { TALKING } from "./pages_server.ts";

const WEB = join(import.meta.dirname, "..");
const EXAMPLES = join(WEB, "../examples/web");
/** The folders that have what the examples take beside the package. */
const INSTALLED = [join(WEB, "node_modules"), join(WEB, "../tests/clients/node_modules")];
const MODEL = '"HuggingFaceTB/SmolLM2-135M-Instruct"';
const COMMON = { logLevel: "error" } as const;

let root: string;
test.beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "tokamak-examples-"));
  const npm = (folder: string, ...given: string[]) =>
    execFileSync("npm", [...given, "--offline", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder, encoding: "utf8" }).trim();
  const packed = npm(join(WEB, "tokamak-web"), "pack", "--pack-destination", root).split("\n").at(-1)!;
  writeFileSync(join(root, "package.json"), '{ "private": true }');
  npm(root, "install", join(root, packed));
});
test.afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A copy of the example with what it depends on, which opens a small model, unless given the one that lies beside it. */
function made(name: string, model = "/model/"): string {
  const folder = join(root, name);
  cpSync(join(EXAMPLES, name), folder, { recursive: true });
  const { dependencies, devDependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, Record<string, string>>;
  for (const one of Object.keys({ ...dependencies, ...devDependencies })) {
    const from = one === "tokamak-web" ? join(root, "node_modules", one) : INSTALLED.map((place) => join(place, one)).find(existsSync);
    expect(from, `${one} of ${name}`).toBeDefined();
    const to = join(folder, "node_modules", one);
    mkdirSync(dirname(to), { recursive: true });
    // Links lead out of the folder, which a bundler follows and a server of files does not.
    if (one === "tokamak-web") cpSync(from!, to, { recursive: true });
    else symlinkSync(from!, to);
  }
  let changed = 0;
  for (const file of readdirSync(folder).filter((one) => /\.(html|jsx?|svelte)$/.test(one))) {
    const text = readFileSync(join(folder, file), "utf8");
    const own = text.replace(MODEL, JSON.stringify(model)).replaceAll("200", "20");
    changed += Number(text.includes(MODEL));
    writeFileSync(join(folder, file), own);
  }
  expect(changed, "files that name the model").toBe(1);
  return folder;
}

async function used(page: Page, address: string): Promise<void> {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(address);
  const ask = page.getByRole("button", { name: "Ask" });
  await expect(ask).toBeEnabled();
  await page.getByRole("textbox", { name: "Question" }).fill("Hello");
  await ask.click();
  await expect(page.getByRole("status")).toHaveText(/^\d+ (tokens|pieces)/);
  await expect.poll(async () => (await page.locator("#answer").textContent())!.length).toBeGreaterThan(5);
  expect(errors).toEqual([]);
}

/** Gives out the files of a folder while the page is used; its address. */
async function served(folder: string, page: Page): Promise<string> {
  const server = await preview({ ...COMMON, configFile: false, root: folder, build: { outDir: "." }, preview: { host: "127.0.0.1", port: 0 } });
  const address = `http://127.0.0.1:${(server.httpServer.address() as AddressInfo).port}/index.html`;
  await used(page, address);
  await server.close();
  return address;
}

for (const name of ["worker", "react", "svelte", "ai-sdk", "langchain"]) {
  test(`the example ${name} runs as Vite builds it`, async ({ context }) => {
    test.setTimeout(120_000);
    const folder = made(name);
    await build({ ...COMMON, root: folder });
    cpSync(TALKING, join(folder, "dist/model"), { recursive: true });
    await served(join(folder, "dist"), await context.newPage());
  });
}

test("the example plain runs from a server of files", async ({ context }) => {
  const folder = made("plain");
  cpSync(TALKING, join(folder, "model"), { recursive: true });
  await served(folder, await context.newPage());
});

test("the example service-worker runs, and again when its server is gone", async ({ shared }) => {
  const context = await shared.newContext();
  const folder = made("service-worker");
  cpSync(TALKING, join(folder, "model"), { recursive: true });
  const page = await context.newPage();
  await used(page, await served(folder, page));
  await context.close();
});

test("the example extension runs in a browser that has it", async ({ server }) => {
  const folder = made("extension", `${server.address}talking/`);
  cpSync(join(folder, "node_modules/tokamak-web/dist"), join(folder, "tokamak-web"), { recursive: true });
  rmSync(join(folder, "node_modules"), { recursive: true });
  const context = await chromium.launchPersistentContext(join(root, "profile"), {
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    ignoreDefaultArgs: ["--disable-extensions"],
    args: ["--no-sandbox", "--headless=new", `--disable-extensions-except=${folder}`, `--load-extension=${folder}`],
  });
  const [worker = await context.waitForEvent("serviceworker")] = context.serviceWorkers();
  await used(await context.newPage(), new URL("index.html", worker.url()).href);
  await context.close();
});
