// The page of the memory: a note by keyboard and a file that is dropped, found, quoted, forgotten; what is kept after a
// visit, saved and read back. And the chat, which is told what the memory knows.
import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { checkLooks, expect, test } from "./pages.ts";

const status = (page: Page) => page.locator("#memory > .row > .status");
const documents = (page: Page) => page.locator(".documents li");

function watched(page: Page, errors: string[]): Page {
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => void dialog.accept());
  return page;
}

async function visit(page: Page, server: string): Promise<void> {
  await page.goto(`${server}memory.html?cpu&selfTest=0`);
  await expect(status(page)).toHaveText("Add a note, or ask.");
}

/** Files that are dropped on the page. */
const drop = (page: Page, files: Record<string, string>) =>
  page.evaluate((given) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of Object.entries(given)) dataTransfer.items.add(new File([text], name, { type: "text/plain" }));
    dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
  }, files);

test("notes are added, found, kept, saved and forgotten", async ({ context, server }) => {
  const errors: string[] = [];
  const page = watched(await context.newPage(), errors);
  await visit(page, server.address);
  await expect(page.getByText("Nothing is kept yet.")).toBeVisible();
  await page.getByLabel("A note").fill("The spare key lies under the third pot. My password: hunter2000");
  await page.getByLabel("Source").fill("shed");
  await page.keyboard.press("Enter");
  await expect(status(page)).toHaveText("shed: added, 1 chunk, 1 secret left out.");
  await expect(page.getByLabel("A note")).toHaveValue("");
  await drop(page, { "king.txt": "The old king lived in a castle.", "fox.md": "# Foxes\n\nFoxes sleep by day." });
  await expect(status(page)).toHaveText("king.txt: added, 1 chunk. fox.md: added, 1 chunk.");
  await expect(documents(page)).toHaveCount(3);

  await page.getByLabel("Question").fill("where is the key");
  await page.keyboard.press("Enter");
  const best = page.locator(".hits li").first();
  await expect(best).toContainText("The spare key lies under the third pot. My password: [REDACTED]");
  await expect(status(page)).toHaveText(/^3 passages in \d+ ms; for a prompt, \d+ tokens\.$/);
  await page.getByText("For a prompt", { exact: true }).click();
  await expect(page.getByRole("region", { name: "For a prompt" })).toContainText("> [1] shed");
  await page.evaluate(() => scrollTo(0, 0));
  await checkLooks(page, "memory");

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  const saved = readFileSync((await (await download).path()) as string, "utf8");
  expect(saved).toMatch(/^\{"tokamak_memory": 1,/);
  expect(saved).not.toContain("hunter2000");
  await page.getByRole("button", { name: "Forget shed" }).press("Enter");
  await expect(status(page)).toHaveText("Forgot 1 document.");

  await visit(page, server.address);
  await expect(documents(page)).toHaveCount(2);
  const chooser = page.waitForEvent("filechooser");
  await page.getByLabel("Import …").focus();
  await page.keyboard.press("Enter");
  await (await chooser).setFiles({ name: "memory.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(saved) });
  await expect(status(page)).toHaveText("1 document imported, 2 already there.");
  await page.getByRole("button", { name: "Forget all" }).click();
  await expect(status(page)).toHaveText("Forgot 3 documents.");
  await expect(documents(page)).toHaveCount(0);
  expect(errors).toEqual([]);
});

test("a chat is told what the memory knows, and shows where that is from", async ({ context, server }) => {
  const errors: string[] = [];
  const page = watched(await context.newPage(), errors);
  await visit(page, server.address);
  await page.getByLabel("A note").fill("The spare key lies under the third pot.");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(documents(page)).toHaveCount(1);

  await page.goto(`${server.address}chat.html?cpu&selfTest=0&model=${server.address}talking/`);
  await page.locator("aside .panel > summary").press("Enter");
  await page.getByLabel("Longest answer").fill("4");
  await page.getByRole("checkbox", { name: "Memory" }).focus();
  await page.keyboard.press("Space");
  await expect(page.getByText("1 document, found with built-in.")).toBeVisible();
  await page.getByRole("textbox", { name: "Message" }).fill("where is the key");
  await page.keyboard.press("Enter");
  const answer = page.locator(".turn.assistant");
  await expect(answer.locator(".recalled summary")).toHaveText("From memory: The spare key lies under the third pot.");
  await expect(page.getByText(/^4 tokens/)).toBeVisible();
  await answer.locator(".recalled summary").click();
  await expect(answer.locator(".recalled pre")).toContainText("> The spare key lies under the third pot.");
  await expect(page.locator(".turn.user .text")).toHaveText("where is the key");
  await checkLooks(page, "chat-memory");
  expect(errors).toEqual([]);
});
