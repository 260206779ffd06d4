// The built site in Firefox, which has no WebGPU here and so runs models on the processor. Playwright cannot drive an installed Firefox, so
// that a page of the same origin does: it shows the site's pages in frames of both widths, uses them and posts what it found.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect as plainExpect, test } from "@playwright/test";
import { type PagesServer, serve } from "./pages_server.ts";

const PROGRAM = [process.env["FIREFOX"], "/usr/bin/firefox-esr", "/usr/bin/firefox"].find((one) => one && existsSync(one));
/** Milliseconds: a busy machine takes its time. */
const PATIENCE = 150_000;
/** They keep it from calling home, and from asking. */
const PREFERENCES = {
  "browser.shell.checkDefaultBrowser": false, "datareporting.policy.dataSubmissionEnabled": false, "toolkit.telemetry.enabled": false,
  "app.normandy.enabled": false, "network.captive-portal-service.enabled": false, "network.connectivity-service.enabled": false,
  "browser.safebrowsing.update.enabled": false,
};

/** A step of the visit: "" or what went wrong, and milliseconds. */
interface Step {
  name: string;
  wrong: string;
  ms: number;
}

/** Runs in Firefox. */
async function drive(): Promise<void> {
  const post = (one: Step) => fetch("/driven", { method: "POST", body: JSON.stringify(one) });
  const frames: HTMLIFrameElement[] = [];
  type Inside = Window & { axe?: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };

  const until = async <T>(what: string, look: () => T | null | undefined | false | ""): Promise<T> => {
    for (const end = performance.now() + 40_000; performance.now() < end; ) {
      const found = look();
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`${what} did not come`);
  };
  const shown = async (width: number, path: string): Promise<Inside> => {
    const frame = document.createElement("iframe");
    Object.assign(frame.style, { width: `${width}px`, height: "800px" });
    frame.src = path;
    document.body.append(frame);
    frames.push(frame);
    const isThere = () => frame.contentDocument?.readyState === "complete" && frame.contentDocument.getElementById("main");
    const inside = await until(path, () => isThere() && (frame.contentWindow as Inside));
    inside.addEventListener("error", ({ message }) => void post({ name: `${path}, script`, wrong: message, ms: 0 }));
    inside.addEventListener("unhandledrejection", ({ reason }) => void post({ name: `${path}, promise`, wrong: String(reason), ms: 0 }));
    return inside;
  };
  const textOf = ({ document: own }: Inside, place: string) => own.querySelector(place)?.textContent ?? "";
  const has = (page: Inside, place: string, text: string) => until(`"${text}" at ${place}`, () => textOf(page, place).includes(text));
  const close = () => frames.splice(0).forEach((frame) => frame.remove());
  const looks = async (page: Inside, width: number) => {
    const over = page.document.documentElement.scrollWidth - width;
    if (over > 0) throw new Error(`${over} px of sideways scroll`);
    const script = Object.assign(page.document.createElement("script"), { src: "/axe.js" });
    page.document.body.append(script);
    const { violations } = await (await until("axe", () => page.axe)).run();
    script.remove();
    if (violations.length > 0) throw new Error(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`).join("; "));
  };
  const ask = async (page: Inside, text: string, tokens: number) => {
    const { document: own } = page;
    const settings = [...own.querySelectorAll<HTMLLabelElement>("aside label")];
    settings.find(({ textContent }) => textContent === "Longest answer")!.control!.setAttribute("value", String(tokens));
    const field = await until("the open field", () => own.querySelector<HTMLTextAreaElement>("#message:enabled"));
    field.value = text;
    field.form!.requestSubmit();
    await has(page, ".compose .status", `${tokens} tokens`);
  };
  const step = async (name: string, run: () => Promise<void>) => {
    const begin = performance.now();
    const wrong = await run().then(() => "", (error: unknown) => String(error));
    await post({ name, wrong, ms: Math.round(performance.now() - begin) });
  };
  const own = "selfTest=0&model=/talking/";

  for (const width of [1280, 390]) {
    await step(`first page, ${width}`, async () => {
      const page = await shown(width, `/index.html?selfTest=0#p=Once+upon+a+time&s=7&n=24`);
      await until("a first text", () => textOf(page, "#story-text").length > "Once upon a time".length);
      await has(page, "#story-status", "24 tokens, seed 7.");
      await has(page, "#headline", "tokens a second on the processor");
      await looks(page, width);
    });
    close();
    await step(`chat, ${width}`, async () => {
      const page = await shown(width, `/chat.html?${own}`);
      await has(page, "#model-status", "on the processor");
      await ask(page, "Hello", 5);
      await looks(page, width);
    });
    close();
    for (const name of ["listen", "memory", "timeline", "kernels", "inspect", "validate", "bench", "docs", "docs/browser"]) {
      await step(`${name}, ${width}`, async () => {
        const page = await shown(width, `/${name}.html?${own}`);
        if (/timeline|inspect|validate|bench/.test(name)) await has(page, "#model-status", "on ");
        if (name === "kernels") await until("the kernels", () => page.document.querySelectorAll("[role=option], option").length > 90);
        await looks(page, width);
        const alert = textOf(page, "[role=alert]");
        if (alert) throw new Error(alert);
      });
      close();
    }
  }
  await step("two tabs", async () => {
    const first = await shown(600, `/chat.html?${own}`);
    await has(first, "#model-status", "on the processor");
    const second = await shown(600, `/chat.html?${own}`);
    await has(second, "#engine .tabs", "2 tabs");
    await ask(second, "Hello", 5);
    frames[0]!.remove();
    await has(second, "#model-status", "The tab that had the model was closed.");
    await has(second, "#engine .state", "ready");
    await ask(second, "And then?", 6);
  });
  await post({ name: "end", wrong: "", ms: 0 });
}

let server: PagesServer, folder: string, browser: ChildProcess;

test.beforeAll(async () => {
  server = await serve();
  folder = mkdtempSync(join(tmpdir(), "tokamak-firefox-"));
});
test.afterAll(() => {
  browser?.kill();
  server.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

test("Firefox without WebGPU writes, answers, and opens every page, at both widths", async () => {
  test.skip(!PROGRAM && !process.env["TOKAMAK_REQUIRE_BROWSER"], "no Firefox is installed");
  test.setTimeout(PATIENCE + 30_000);
  const axe = createRequire(createRequire(import.meta.url).resolve("@axe-core/playwright")).resolve("axe-core/axe.min.js");
  server.changed.set("/axe.js", readFileSync(axe, "utf8"));
  server.changed.set("/drive.js", `(${drive})();`);
  server.changed.set("/drive.html", "<!doctype html><title>drive</title><body><script src=drive.js></script>");
  writeFileSync(join(folder, "user.js"), Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${value});\n`).join(""));
  browser = spawn(PROGRAM!, ["--headless", "--no-remote", "--profile", folder, `${server.address}drive.html`], { stdio: "ignore", env: { ...process.env, HOME: folder } });
  const steps = () => server.posted.map((one) => JSON.parse(one) as Step);
  await plainExpect.poll(() => steps().map(({ name }) => name), { timeout: PATIENCE }).toContain("end");
  plainExpect(steps().filter(({ wrong }) => wrong !== "")).toEqual([]);
  plainExpect(steps()).toHaveLength(24);
});
