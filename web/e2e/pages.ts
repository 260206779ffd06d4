// The part that tests of all pages share: one browser and one server for a file, a page that fails on errors of its
// console, and the checks that every page passes.
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { type Browser, type BrowserContext, type Page, test as base, chromium, expect as plainExpect } from "@playwright/test";
import { type PagesServer, serve } from "./pages_server.ts";

const ARGS = ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader",
  "--use-fake-device-for-media-stream"]; // a microphone that beeps

/** Milliseconds: a busy machine takes its time. */
const PATIENCE = 30_000;
export const expect = plainExpect.configure({ timeout: PATIENCE });

/** Pictures to look at. */
export const SHOTS = join(import.meta.dirname, "../../build/web/shots");

interface Shared {
  server: PagesServer;
  shared: Browser;
}

interface Own {
  context: BrowserContext;
  /**
   * Opens a page of the site with the tiny model on the CPU, and waits until the model is open. Errors
   * of the console, and pages that throw, fail the test.
   */
  open(page: string, prepare?: (page: Page) => Promise<unknown>): Promise<Page>;
}

export const test = base.extend<Own, Shared>({
  server: [
    async ({}, use) => {
      const server = await serve();
      await use(server);
      server.close();
    },
    { scope: "worker" },
  ],
  shared: [
    async ({}, use) => {
      const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
      const browser = await chromium.launch({ executablePath, args: ARGS });
      await use(browser);
      await browser.close();
    },
    { scope: "worker" },
  ],
  context: async ({ shared }, use) => {
    const context = await shared.newContext({ viewport: { width: 1280, height: 900 }, serviceWorkers: "block" });
    await use(context);
    await context.close();
  },
  open: async ({ context, server }, use) => {
    const errors: string[] = [];
    await use(async (name, prepare) => {
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE);
      await prepare?.(page);
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(`${server.address}${name}.html?cpu&model=${server.address}tiny/`);
      await expect(page.locator("#model-status")).toContainText("on the processor");
      return page;
    });
    expect(errors).toEqual([]);
  },
});

export interface Reply {
  verb: string;
  /** Only for calls with these values. */
  values?: Record<string, unknown>;
  result?: unknown;
  error?: { code: string; message: string };
}

/**
 * Answers verbs in the Worker's place. A model on the CPU has no WGSL and no times, and one on a software
 * driver takes half a minute to open.
 */
export function answer(page: Page, replies: Reply[]): Promise<unknown> {
  return page.addInitScript((given: Reply[]) => {
    const post = Worker.prototype.postMessage as (this: Worker, message: unknown) => void;
    Worker.prototype.postMessage = function (this: Worker, message: { id?: number; call?: { kind: string; verb?: string; values: Record<string, unknown> } }) {
      const { id, call } = message;
      const fits = ({ verb, values = {} }: Reply) =>
        call?.verb === verb && Object.entries(values).every(([name, value]) => call.values[name] === value);
      const reply = given.find(fits);
      if (!reply) return post.call(this, message);
      const { result, error } = reply;
      const data = error ? { kind: "error", id, error } : { kind: "result", id, result };
      queueMicrotask(() => this.dispatchEvent(new MessageEvent("message", { data })));
    } as Worker["postMessage"];
  }, replies);
}

/** axe finds nothing, and nothing makes the page scroll sideways on a phone. Leaves pictures. */
export async function checkLooks(page: Page, name: string): Promise<void> {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.screenshot({ path: join(SHOTS, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      // Contrast depends on the scheme, layout on the width: two of the four see both.
      if ((width === 390) !== (colorScheme === "dark")) continue;
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([]);
    }
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(over, `sideways scroll at ${width} px`).toBeLessThanOrEqual(0);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}
