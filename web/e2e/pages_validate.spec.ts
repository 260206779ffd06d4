// The page that checks answers and kernels.
import type { Golden } from "../site/src/suite.ts";
import { standIn, tinyGoldens } from "./golden_tiny.ts";
import { checkLooks, expect, test } from "./pages.ts";

test.beforeEach(({ context }) => context.grantPermissions(["clipboard-read", "clipboard-write"]));

test("right answers are green, and the report says so", async ({ open, server }) => {
  const json = { [`${server.address}tiny/`]: tinyGoldens() };
  const page = await open("validate", (own) => own.route("**/goldens.json", (route) => route.fulfill({ json })));
  const check = page.getByRole("button", { name: "Check the answers" });
  await expect(check).toBeEnabled();
  await check.focus();
  await page.keyboard.press("Enter");
  await expect(page.locator(".verdict")).toHaveText("✓ Right on this device: 1 of 1 checks.");
  await expect(page.locator("td .right")).toHaveCount(1);
  const beside = page.getByRole("region", { name: "Token by token" }).getByRole("article");
  await expect(beside).toHaveCount(1);
  await expect(beside.locator("h3 span")).toHaveText("24 of 24 tokens");
  for (const at of [0, 1]) await expect(beside.locator(".tokens-of").nth(at).locator(".right")).toHaveCount(24);
  await expect(beside.locator(".margins > div > span")).toHaveCount(24);
  await checkLooks(page, "validate-right");
  await page.getByRole("button", { name: "Copy the report" }).press("Enter");
  const report = await page.evaluate(() => navigator.clipboard.readText());
  expect(report).toContain("all right, 1 right");
  expect(report).toContain("- device: Processor");
});

test("a wrong answer is red, with what was expected and found", async ({ open, server }) => {
  const broken = tinyGoldens().map((golden) => ({ ...golden, ids: golden.ids.with(5, 1) }));
  const json = { [`${server.address}tiny/`]: broken };
  const page = await open("validate", (own) => own.route("**/goldens.json", (route) => route.fulfill({ json })));
  await page.getByRole("button", { name: "Check the answers" }).click();
  await expect(page.locator(".verdict.wrong")).toHaveText("✗ Wrong on this device: 1 of 1 checks.");
  const [recorded, found] = [page.locator(".tokens-of").first(), page.locator(".tokens-of").last()];
  for (const text of [recorded, found]) await expect(text.locator("span").nth(5)).toHaveClass("wrong");
  await expect(recorded.locator(".wrong")).toHaveCount(1);
  const details = page.locator(".wrong-answer");
  await expect(details).toContainText("Token 6 of 24 is the first that differs.");
  await expect(details.locator(".ids strong")).toHaveText(["1", String(tinyGoldens()[0]?.ids[5])]);
  await checkLooks(page, "validate-wrong");
  await page.getByRole("button", { name: "Copy the report" }).click();
  const report = await page.evaluate(() => navigator.clipboard.readText());
  expect(report).toContain("1 WRONG, 0 right");
  expect(report).toContain("first difference at token 6");
});

test("a model without recorded answers can have its kernels tested", async ({ open }) => {
  const page = await open("validate");
  await expect(page.locator("#validate .status")).toHaveText(/There are no recorded answers of this model/);
  await expect(page.getByRole("button", { name: "Check the answers" })).toBeDisabled();
  await expect(page.getByRole("button", { name: "Test every kernel" })).toBeEnabled();
});

test("a kernel that computes wrongly is red", async ({ open }) => {
  const kernels = [
    { kernel: "linear.wgsl.any", cases: 12, failure: "", skipped: "" },
    { kernel: "attention.wgsl.subgroup", cases: 3, failure: "attention of one token: element 7 is 0.5, expected 0.25", skipped: "" },
    { kernel: "linear.wgsl.f16", cases: 0, failure: "", skipped: "needs shader-f16" },
  ];
  const page = await open("validate", (own) => standIn(own, "self_test", [{ phase: "self-test", done: 1, total: 2 }], { kernels, seconds: 2.5 }));
  const run = page.getByRole("button", { name: "Test every kernel" });
  await expect(run).toBeEnabled();
  await run.press("Enter");
  await expect(page.locator(".verdict.wrong")).toHaveText("✗ Wrong on this device: 1 of 2 checks.");
  await expect(page.getByRole("group", { name: "Kernels that are wrong" })).toContainText("element 7 is 0.5, expected 0.25");
  const squares = page.locator(".squares span");
  expect(await squares.evaluateAll((all) => all.map(({ className }) => className))).toEqual(["is-right", "is-wrong", "is-skipped"]);
  await page.getByText("All kernels").press("Enter");
  await expect(page.getByRole("group", { name: "All kernels" })).toContainText("needs shader-f16");
  await expect(page.getByRole("link", { name: "linear.wgsl.f16" })).toHaveAttribute("href", "./kernels.html#linear.wgsl.f16");
  await checkLooks(page, "validate-kernels");
});

test("the site has the recorded answers of the built-in model", async ({ request, server }) => {
  const found = (await (await request.get(`${server.address}goldens.json`)).json()) as Record<string, Golden[]>;
  const cases = found["built-in"] ?? [];
  expect(cases.map(({ kind }) => kind)).toContain("chat");
  for (const { prompt, promptIds, ids, margins } of cases) {
    expect(prompt).not.toBe("");
    expect(promptIds.length).toBeGreaterThan(0);
    expect(margins).toHaveLength(ids.length);
  }
});
