// The tokens of an answer: their probabilities, what else could have come, and what made them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answer, checkLooks, expect, test } from "./pages.ts";

/** A recording of a step: where there is no clock for kernels, on a busy processor, times take a while. */
const STEP = JSON.parse(readFileSync(join(import.meta.dirname, "data/profile.json"), "utf8")) as { steps: object[] };

test("words stand with their probabilities, and an answer goes on from another one", async ({ context, server }) => {
  const page = await context.newPage();
  await answer(page, [{ verb: "profile", result: STEP }]);
  await page.goto(`${server.address}chat.html?cpu&selfTest=0`);
  await page.locator("aside .panel > summary").press("Enter");
  await page.getByLabel("Words by their probability").check();
  await page.getByLabel("Longest answer").fill("16");
  await page.getByRole("button", { name: "Wild" }).click();
  await expect(page.getByLabel("Temperature")).toHaveValue("1.3");
  await page.getByRole("button", { name: "Exact" }).click();
  await expect(page.getByLabel("Temperature")).toHaveValue("0");
  await expect(page.getByLabel("Min p")).toHaveValue("");
  await expect(page.getByLabel("Longest answer")).toHaveValue("16");
  await page.getByRole("button", { name: "Tell me a story about a fox." }).click();
  const tokens = page.getByRole("group", { name: "Tokens of the answer" }).getByRole("button");
  await expect(tokens).toHaveCount(16);
  const text = async () => (await tokens.allTextContents()).join("");
  expect(await text()).toMatch(/^\w+( [\w']+[.,]?)+/); // the spaces between words are there
  await tokens.first().focus();
  for (let at = 0; at < 4; at += 1) await page.keyboard.press("ArrowRight");
  await expect(tokens.nth(4)).toBeFocused();
  const before = (await tokens.allTextContents()).slice(0, 4).join("");
  const others = page.getByRole("button", { name: /^Go on with / });
  await expect(others).toHaveCount(4); // and the one that came

  const glass = page.getByRole("region", { name: "The token's dispatches" });
  await expect(glass.getByRole("status")).toHaveText(/^\d+ dispatches move 2\d\.\d MB; the token came \d.* after the one before it\.$/);
  const bars = glass.locator(".glass-bar");
  await expect(bars).toHaveText(["bytes"]);
  await expect(glass.getByRole("link", { name: "On the timeline" })).toHaveAttribute("href", "./timeline.html#tokens=1&depth=23");
  await glass.getByRole("button", { name: "Time these dispatches" }).click();
  await expect(bars).toHaveText(["time", "roofline"]);
  await expect(bars.first().locator("div > span")).toHaveCount(STEP.steps.length);
  await expect(glass.getByRole("status")).toContainText("of which it reaches");
  await tokens.nth(4).focus();
  await page.keyboard.press("ArrowRight");
  await expect(glass.getByRole("link", { name: "On the timeline" })).toHaveAttribute("href", /depth=24$/);
  await expect(bars).toHaveText(["time", "roofline"]); // each token that is stopped at is timed from now on
  await page.keyboard.press("ArrowLeft");
  await expect(others).toHaveCount(4);
  await expect(bars).toHaveText(["time", "roofline"]);
  await checkLooks(page, "chat-tokens");
  const other = /^(.*) [\d.]+ %$/.exec((await others.first().textContent())!)![1]!.replace("␣", " ");
  await others.first().click();
  await expect(page.locator(".compose .status")).toContainText("16 tokens");
  await expect(page.locator(".turn.assistant .answer")).toContainText(before + other);
});
