// A kernel that is made wrong on the page: the start finds it, runs another one in its place, and answers as before.
import { checkLooks, expect, test } from "./pages.ts";

test("a kernel that a visitor breaks is found and replaced", async ({ context, server }) => {
  test.setTimeout(240_000);
  const page = await context.newPage();
  await page.goto(`${server.address}validate.html?model=${server.address}talking/`);
  await expect(page.locator("#model-status")).toContainText("on the processor");
  const part = page.getByRole("region", { name: "Break a kernel" });
  await part.getByRole("button", { name: "Choose a kernel to break" }).press("Enter");
  const kernels = part.getByLabel("Kernel", { exact: true });
  await expect(kernels).toBeVisible();
  const [kernel] = await kernels.locator("option", { hasText: "gated_ffn" }).allTextContents();
  await kernels.selectOption(kernel!);
  await expect(part.locator("del")).toHaveText(/\+=/);
  await expect(part.locator("ins")).toHaveText(/-=/);
  expect(new URL(page.url()).hash).toContain(`break=${kernel}`);
  await part.getByRole("button", { name: "Start with the broken kernel" }).press("Enter");
  await expect(part.getByText("✓ The answer stays right: the same 24 tokens.")).toBeVisible({ timeout: 120_000 });
  await expect(part.locator(".wrong").first()).toHaveText(new RegExp(`^✗ ${kernel}: .*expected`));
  await expect(part.getByText(/^✓ The self-test found it in .* In its place: \w+\.wgsl/)).toBeVisible();
  expect(await part.locator(".is-wrong").count()).toBeGreaterThan(0);
  expect(await part.locator(".is-new").count()).toBeGreaterThan(0);
  await checkLooks(page, "validate-break");

  // By hand: a comment is no fault, and what was found before is not kept.
  await part.getByText("Its whole text, to break it by hand").click();
  const text = part.getByLabel("WGSL of the kernel, to change");
  await text.fill((await text.inputValue()).replace("-=", "+=").replace("fn main", "/* mine */ fn main"));
  await part.getByRole("button", { name: "Start with the broken kernel" }).press("Enter");
  await expect(part.getByText(/finds nothing wrong with/)).toBeVisible({ timeout: 120_000 });
});
