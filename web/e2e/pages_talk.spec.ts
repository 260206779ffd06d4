// The page for conversations by voice: a question is heard, its answer said, and interrupted; by keyboard; and the looks.
import type { BrowserContext, Page } from "@playwright/test";
import { checkLooks, expect, test } from "./pages.ts";

/** A microphone whose voice the test begins and ends, in place of the browser's, which beeps. */
declare const voice: (seconds: number) => Promise<void>;

function fakeMicrophone(context: BrowserContext): Promise<unknown> {
  return context.addInitScript(() => {
    let gain: GainNode | undefined;
    navigator.mediaDevices.getUserMedia = async () => {
      const context = new AudioContext();
      const noise = context.createBuffer(1, context.sampleRate, context.sampleRate);
      noise.getChannelData(0).forEach((_, at, all) => (all[at] = 0.3 * (2 * Math.random() - 1)));
      const source = context.createBufferSource();
      source.buffer = noise;
      source.loop = true;
      gain = context.createGain();
      gain.gain.value = 0;
      const { stream } = source.connect(gain).connect(context.createMediaStreamDestination()) as MediaStreamAudioDestinationNode;
      source.start();
      return stream;
    };
    Object.assign(globalThis, {
      voice: async (seconds: number) => {
        gain!.gain.value = 1;
        await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
        gain!.gain.value = 0;
      },
    });
  });
}

async function openTalk(page: Page, server: string): Promise<void> {
  const models = { listener: "hearing/", speaker: "talkative/", codec: "data/speech/nanocodec/" };
  const asked = Object.entries(models).map(([name, model]) => `${name}=${server}${model}`);
  await page.goto(`${server}talk.html?cpu&selfTest=0&${asked.join("&")}`);
  await expect(page.locator(".phase")).toHaveText("Start, and speak; or type.");
}

test("a question is heard and answered by voice, and the answer interrupted", async ({ context, server }) => {
  const errors: string[] = [];
  await fakeMicrophone(context);
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await openTalk(page, server.address);
  const phase = page.locator(".phase");
  const turns = page.locator(".turns > li");
  await page.getByRole("button", { name: "Start" }).press("Enter");
  await expect(phase).toHaveText("Listening");
  const speaks = page.evaluate(() => voice(1));
  await expect(phase).toHaveText("You speak");
  await speaks;
  await expect(phase).toHaveText("Speaking");
  await expect(page.locator(".stage .status")).toHaveText(/^First sound (\d+(\.\d+)? ms|\d\.\d s) after the first sentence\.$/);
  await page.waitForTimeout(2500); // some of it is heard
  await page.evaluate(() => voice(0.6));
  await expect(turns.first()).toHaveText(/Model: .*\w+.* – interrupted$/s);
  await expect(turns).toHaveCount(2); // what interrupted it is the next question
  await page.getByRole("button", { name: "End", exact: true }).press("Enter");
  await expect(phase).toHaveText("Start, and speak; or type.");
  await checkLooks(page, "talk");

  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("Permission denied", "NotAllowedError"));
  });
  await page.getByRole("button", { name: "Start" }).press("Enter");
  await expect(page.getByRole("alert")).toHaveText("The microphone cannot be used: Permission denied");
  await page.getByLabel("Question").fill("Tell me a story.");
  await page.keyboard.press("Enter");
  await expect(phase).toHaveText("Speaking");
  await expect(page.getByRole("alert")).toHaveCount(0);
  await page.getByRole("button", { name: "Stop the answer" }).press("Enter");
  await expect(turns.last()).toContainText("You: Tell me a story.");
  await expect(turns.last()).toContainText("interrupted");
  await expect(phase).toHaveText("Listening");
  expect(errors).toEqual([]);
});

test("the page says what is missing", async ({ context, server }) => {
  const page = await context.newPage();
  await page.goto(`${server.address}talk.html?cpu&selfTest=0&model=${server.address}tiny/&listener=${server.address}tiny/&speaker=${server.address}speaking/`);
  await expect(page.locator(".phase")).toHaveText(/^\S+ does not hear; open another model that hears\.$/);
  await expect(page.getByRole("button", { name: "Start" })).toBeDisabled();
  await page.getByRole("button", { name: "Model that hears:" }).press("Enter");
  await page.getByRole("textbox", { name: "Model that hears" }).fill(`${server.address}hearing/`);
  await page.keyboard.press("Enter");
  await expect(page.locator(".phase")).toHaveText("Name the codec of the model that speaks, and open it again.");
});
