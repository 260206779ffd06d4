// The page that says texts: by keyboard, with a codec that is named, and the looks.
import { readFileSync } from "node:fs";
import { checkLooks, expect, test } from "./pages.ts";

test("a text is said, played and saved", async ({ context, server }) => {
  const errors: string[] = [];
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  const status = page.locator("#speak .status");
  const say = page.getByRole("button", { name: "Speak", exact: true });
  await page.goto(`${server.address}speak.html?cpu&model=${server.address}speaking/`);
  await expect(status).toHaveText("Name its codec, and open it again.");
  await expect(say).toBeDisabled();
  await page.getByLabel("Codec").fill(`${server.address}data/speech/nanocodec/`);
  await page.keyboard.press("Enter");
  await expect(status).toHaveText("Type a text, and let it be said.");
  await page.getByLabel("Text").fill("Good day.");
  await say.press("Enter");
  await expect(status).toContainText(/of sound, made in .*, the first after/);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as WAV" }).press("Enter");
  const file = readFileSync((await (await download).path()) as string);
  expect([file.toString("latin1", 0, 4), file.readUInt32LE(24), file.readUInt32LE(40)]).toEqual(["RIFF", 22_050, file.length - 44]);
  await checkLooks(page, "speak");
  expect(errors).toEqual([]);
});
