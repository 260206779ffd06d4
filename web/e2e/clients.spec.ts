// The openai client, Vercel's AI SDK and LangChain in a tab, over the fetch of tokamak-web/openai and the real module.
import { join } from "node:path";
import { build } from "vite";
import { expect, test } from "./pages.ts";

const CLIENTS = join(import.meta.dirname, "../../tests/clients");

async function bundle(): Promise<string> {
  const output = await build({
    configFile: false,
    root: CLIENTS,
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"production"' },
    build: { write: false, target: "es2023", minify: false, lib: { entry: join(CLIENTS, "in_tab.ts"), formats: ["iife"], name: "clients" } },
  });
  const [{ output: [chunk] }] = output as unknown as [{ output: [{ code: string }] }];
  return chunk.code;
}
/** Its types are not looked at here: the clients have a package of their own. */
declare const clients: {
  ask(fetch: typeof globalThis.fetch): Promise<Record<string, { whole: string; pieces: string[]; tokens: number; error: string }>>;
};

test("the openai client, the AI SDK and LangChain get the engine's answers", async ({ context, server }) => {
  const page = await context.newPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).host));
  await page.goto(`${server.address}tiny/config.json`);
  await page.addScriptTag({ content: await bundle() });
  const found = await page.evaluate(async (address) => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const { openaiFetch } = (await import(`${address}package/openai.js`)) as typeof import("tokamak-web/openai");
    const engine = await open(`${address}talking/`, { backend: "cpu", cache: "none" });
    const { text } = await engine.chat([{ role: "user", content: "Hello" }], { maxTokens: 8, temperature: 0 }).result;
    const answers = await clients.ask(openaiFetch(engine));
    await engine.close();
    return { text, answers };
  }, server.address);
  expect(Object.keys(found.answers)).toEqual(["openai", "aiSdk", "langChain"]);
  for (const [name, { whole, pieces, tokens, error }] of Object.entries(found.answers)) {
    expect(whole, name).toBe(found.text);
    expect(pieces.join(""), name).toBe(found.text);
    expect(pieces.filter(Boolean).length, name).toBeGreaterThan(1);
    expect(tokens, name).toBe(8);
    expect(error, name).toContain("temperature");
  }
  expect(asked.filter((host) => host !== new URL(server.address).host)).toEqual([]);
});
