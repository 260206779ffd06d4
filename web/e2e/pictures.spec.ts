// Pictures of the pages for docs/, with the built-in model, where PICTURES names a folder.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "@playwright/test";
import { SHOTS, answer, expect, test } from "./pages.ts";

const FOLDER = process.env["PICTURES"];
test.skip(!FOLDER, "PICTURES names no folder");
test.beforeEach(() => test.setTimeout(180_000));

/** The picture as WebP, which the browser writes itself. */
async function save(page: Page, name: string): Promise<void> {
  const png = (await page.screenshot({ path: join(SHOTS, `picture-${name}.png`) })).toString("base64");
  const blank = await page.context().newPage();
  const webp = await blank.evaluate(async (data) => {
    const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    canvas.getContext("2d")!.drawImage(picture, 0, 0);
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.75 });
    return Array.from(new Uint8Array(await blob.arrayBuffer()));
  }, png);
  await blank.close();
  mkdirSync(resolve(FOLDER!), { recursive: true });
  writeFileSync(join(resolve(FOLDER!), `${name}.webp`), Uint8Array.from(webp));
}

/** A monitor's picture in light colours and a phone's in dark ones, of what `at` says is worth seeing. */
async function pictures(page: Page, name: string, at = "h1", wideAt = "h1"): Promise<void> {
  for (const [width, height, colorScheme] of [[1280, 800, "light"], [390, 780, "dark"]] as const) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.locator(width > 1000 ? wideAt : at).first().evaluate((element) => {
      element.scrollIntoView({ block: "start" });
      scrollBy(0, -(document.querySelector("header")?.offsetHeight ?? 0) - 12);
    });
    await save(page, `${name}-${width}`);
  }
}

test("landing", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}?cpu#p=Once+upon+a+time&s=11&n=160`);
  await expect(page.getByRole("button", { name: "Another story" })).toBeVisible();
  await pictures(page, "landing");
});

test("chat", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}chat.html?cpu`);
  await expect(page.locator("#model-status")).toContainText("on the processor");
  await page.locator("aside .panel > summary").click();
  await page.getByLabel("Longest answer").fill("120");
  await page.getByLabel("Temperature").fill("0");
  await page.locator("aside .panel > summary").click();
  await page.locator("#message").fill("Tell me a story about a fox.");
  await page.keyboard.press("Enter");
  await expect(page.locator(".compose .status")).toContainText("first after");
  await pictures(page, "chat", ".log");
});

test("listen", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}listen.html`);
  await page.getByLabel("Model", { exact: true }).fill("openai/whisper-tiny");
  await pictures(page, "listen");
});

test("speak", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}speak.html?cpu`);
  await page.getByLabel("Text").fill("A fox went down to the river, for it was a warm day.");
  await pictures(page, "speak");
});

// The models that hear and speak are the tests' own: nobody is heard, and nobody hears what is said.
test("talk", async ({ context, server }) => {
  await context.addInitScript(() => {
    navigator.mediaDevices.getUserMedia = async () => new AudioContext().createMediaStreamDestination().stream;
  });
  const page = await context.newPage();
  const models = `listener=${server.address}hearing/&speaker=${server.address}talkative/&codec=${server.address}data/speech/nanocodec/`;
  await page.goto(`${server.address}talk.html?cpu&selfTest=0&${models}`);
  const phase = page.locator(".phase");
  await page.getByRole("button", { name: "Start" }).click();
  await expect(phase).toHaveText("Listening");
  for (const question of ["Tell me a story about a fox.", "Tell me a story about the sea."]) {
    await page.getByLabel("Question").fill(question);
    await page.keyboard.press("Enter");
    await expect(page.locator(".turns > li").last()).toContainText(question);
    await expect(phase).toHaveText("Speaking");
    await page.waitForTimeout(3000);
  }
  await pictures(page, "talk");
});

test("memory", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}memory.html?cpu&selfTest=0`);
  const status = page.locator("#memory > .row > .status");
  await expect(status).toHaveText("Add a note, or ask.");
  for (const [source, text] of [["foxes.md", "# Foxes\n\nFoxes sleep by day and hunt at night."], ["shed", "The spare key lies under the third pot."], ["king.txt", "The old king lived in a castle by the sea."]] as const) {
    await page.getByLabel("A note").fill(text);
    await page.getByLabel("Source").fill(source);
    await page.keyboard.press("Enter");
    await expect(status).toHaveText(`${source}: added, 1 chunk.`);
  }
  await page.getByLabel("Question").fill("where is the key");
  await page.keyboard.press("Enter");
  await expect(page.locator(".hits li")).toHaveCount(3);
  await pictures(page, "memory", "[role=search]", "form[aria-label=Add]");
});

test("inspect", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}inspect.html?cpu#fused`);
  await expect(page.getByRole("tabpanel").locator("pre")).toContainText("rope_append");
  await pictures(page, "inspect", "[role=tablist]");
});

test("docs", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}docs.html`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Docs");
  await pictures(page, "docs");
});

test("kernels", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}kernels.html`);
  const list = page.getByRole("listbox");
  await expect(list.getByRole("option").first()).toBeVisible();
  await page.getByRole("combobox", { name: "Search for kernels" }).fill("linear");
  await list.focus();
  await page.keyboard.press("Home");
  await expect(page.locator("pre")).toContainText("@compute");
  await pictures(page, "kernels", ".life");
});

// A step that was recorded: the browser's driver takes minutes to time one.
test("timeline", async ({ open }) => {
  const recorded = JSON.parse(readFileSync(join(import.meta.dirname, "data/profile.json"), "utf8")) as object;
  const page = await open("timeline", (made) => answer(made, [{ verb: "profile", result: recorded }]));
  await page.getByRole("button", { name: "Measure" }).click();
  const track = page.getByRole("listbox", { name: "Dispatches of the step" });
  await track.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+ArrowRight");
  await page.locator(".chip strong").evaluate((name) => (name.textContent = "qwen3_qknorm"));
  await pictures(page, "timeline", "#opener", "#opener");
});

test("validate", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}validate.html?cpu`);
  await page.getByRole("button", { name: "Check the answers" }).click();
  await expect(page.locator(".verdict")).toBeVisible();
  await pictures(page, "validate", ".verdict");
});

test("tokens", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}chat.html?cpu&selfTest=0`);
  await page.locator("aside .panel > summary").press("Enter");
  await page.getByLabel("Words by their probability").check();
  await page.getByLabel("Longest answer").fill("48");
  await page.getByRole("button", { name: "Exact" }).click();
  await page.getByRole("button", { name: "Tell me a story about a fox." }).click();
  const tokens = page.getByRole("group", { name: "Tokens of the answer" }).getByRole("button");
  await expect(tokens).toHaveCount(48);
  await tokens.nth(4).focus();
  await page.getByRole("button", { name: "Time these dispatches" }).click();
  await expect(page.locator(".glass-bar")).toHaveCount(2);
  await tokens.nth(4).focus();
  await pictures(page, "tokens", ".turn.assistant", ".turn.user");
});

test("break", async ({ context, server }) => {
  test.setTimeout(400_000);
  const page = await context.newPage();
  await page.goto(`${server.address}validate.html`);
  await expect(page.locator("#model-status")).toContainText("on the processor");
  const part = page.getByRole("region", { name: "Break a kernel" });
  await part.getByRole("button", { name: "Choose a kernel to break" }).click();
  await part.getByLabel("Kernel", { exact: true }).selectOption("gated_ffn.wgsl.software");
  await part.getByRole("button", { name: "Start with the broken kernel" }).click();
  await expect(part.getByText(/^✓ The answer stays right/)).toBeVisible({ timeout: 360_000 });
  await pictures(page, "break", "#break", "#break");
});

/** The picture of links to the site, and the icon of phones' first screens: drawn once, beside the icon. */
test("card", async ({ context }) => {
  const page = await context.newPage();
  const icon = readFileSync(join(import.meta.dirname, "../site/public/icon.svg"), "utf8");
  const place = join(import.meta.dirname, "../site/public");
  const draw = async (width: number, height: number, name: string, body: string) => {
    await page.setViewportSize({ width, height });
    await page.setContent(`<style>body{margin:0;background:#14161a;color:#e8eaee;font-family:"DejaVu Sans",sans-serif}svg{display:block}</style>${body}`);
    await page.screenshot({ path: join(place, name) });
  };
  const kinds = ["#6ba3e6", "#e5a35a", "#74bd86", "#c48bd2"];
  const boxes = Array.from({ length: 35 }, (_, at) => `<span style="flex:${[2, 5, 3, 4][at % 4]};height:34px;border-radius:5px;background:${kinds[at % 4]}"></span>`).join("");
  await draw(1200, 630, "card.png", `<div style="padding:64px">
    <div style="display:flex;gap:28px;align-items:center;font-size:52px;font-weight:700"><div style="width:104px">${icon}</div>Tokamak</div>
    <p style="font-size:58px;line-height:1.2;margin:64px 0 24px;font-weight:700">A language model in this tab,<br>on your own device</p>
    <p style="font-size:32px;color:#a0a8b5;margin:0 0 48px">Nothing is installed, and nothing leaves the tab.</p>
    <div style="display:flex;gap:5px">${boxes}</div></div>`);
  await draw(180, 180, "touch-icon.png", `<div style="width:180px">${icon.replace('rx="14"', "")}</div>`);
});

test("bench", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}bench.html?cpu`);
  const measure = page.getByRole("button", { name: "Measure" });
  await expect(measure).toBeEnabled();
  await page.getByText("What is measured").press("Enter");
  await page.getByLabel("Prompts").fill("64");
  await page.getByLabel("Answers").fill("16");
  await page.getByLabel("Repetitions").fill("2");
  await page.getByLabel("Measure what lower bounds need").uncheck();
  await page.getByText("What is measured").press("Enter");
  await measure.click();
  await expect(page.locator("#results tbody tr")).toHaveCount(2);
  await pictures(page, "bench", "#results");
});
