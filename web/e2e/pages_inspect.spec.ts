import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkLooks, expect, test } from "./pages.ts";
import { DATA } from "./pages_server.ts";

// One page for all: opening a model is what takes time.
test("inspect: views, search, tokens, template, dropped files", async ({ open }) => {
  test.setTimeout(240_000);
  const page = await open("inspect");
  const text = page.getByRole("tabpanel").locator("pre");
  const tab = (name: string) => page.getByRole("tab", { name, exact: true });

  await test.step("shows every view, by keyboard alone", async () => {
    await expect(text).toContainText("Qwen3ForCausalLM");
    await tab("Summary").focus();
    for (const [name, part] of [
      ["Graph", "layers.0.self_attn.q_proj.weight"],
      ["Fused", "rope_append {heads=4"],
      ["Plan", "phase prefill"],
      ["Weights", "model.embed_tokens.weight"],
      ["Memory", "KV cache"],
      ["Support", "architecture"],
    ] as const) {
      await page.keyboard.press("ArrowRight");
      await expect(tab(name)).toBeFocused();
      await expect(text).toContainText(part);
    }
    await page.keyboard.press("Home");
    await expect(tab("Summary")).toHaveAttribute("aria-selected", "true");
    await page.keyboard.press("ArrowLeft");
    await expect(tab("Chat template")).toBeFocused();
  });

  await test.step("searches, and changes the form", async () => {
    await tab("Graph").click();
    await page.getByRole("searchbox").fill("Q_PROJ");
    await expect(text.locator("mark")).toHaveCount(2);
    await expect(page.getByText("1 of 2")).toBeVisible();
    await page.keyboard.press("Enter");
    await expect(page.getByText("2 of 2")).toBeVisible();
    await checkLooks(page, "inspect-graph");
    await page.getByRole("combobox", { name: "Form of the graph" }).selectOption("json");
    await expect(text).toContainText('"values": [');
  });

  await test.step("shows tokens as they are typed", async () => {
    await tab("Tokens").click();
    await page.getByLabel("Text", { exact: true }).fill("Hello world 🙂");
    await expect(page.getByText("13 characters, 16 bytes")).toBeVisible();
    await expect(page.locator(".piece").first()).toHaveText(/^H/);
    await checkLooks(page, "inspect-tokens");
  });

  await test.step("shows what a template makes of messages", async () => {
    await tab("Chat template").click();
    const prompt = page.getByRole("region", { name: "Prompt" });
    await expect(prompt).toContainText("<|im_start|>user\nTell me a story about a little robot.");
    await page.getByRole("button", { name: "Add a message" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.type("The robot found a key.");
    await expect(prompt).toContainText("The robot found a key.");
    await page.getByLabel("Variables").fill("{");
    await expect(page.getByRole("alert")).toContainText("no JSON object");
    await page.getByLabel("Variables").fill("");
    await expect(page.getByRole("alert")).toHaveCount(0);
    await checkLooks(page, "inspect-template");
  });

  await test.step("takes files, and tells what is wrong with one", async () => {
    const gguf = readFileSync(join(DATA, "gguf/llama-q4_0.gguf"));
    const give = (buffer: Buffer) =>
      page.locator("#files").setInputFiles({ name: "llama.gguf", mimeType: "application/octet-stream", buffer });
    await give(gguf);
    await expect(page.locator("#model-status")).toContainText("LlamaForCausalLM");
    await tab("Plan").click();
    await expect(text).toContainText("q4_0");
    await give(gguf.subarray(0, 1000));
    await expect(page.getByRole("alert")).toContainText("llama.gguf");
  });
});
