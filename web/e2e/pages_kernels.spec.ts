import { type Reply, answer, checkLooks, expect, test } from "./pages.ts";

const GOOD = `@group(0) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  out[id.x] = f32(id.x);
}
`;
const BROKEN = GOOD.replace("f32(id.x)", "nothing");

const tensor = (type: string) => ({ buffer: 0, type });
const steps = [
  { op: "embed", kernel: "embed.wgsl", inputs: [tensor("bf16[512,64]")], outputs: [tensor("f32[T,64]")], grid: [1, 1, 1], passed_over: [] },
  {
    op: "linear",
    kernel: "linear.wgsl.matmul",
    inputs: [tensor("f32[T,64]"), tensor("bf16[256,64]")],
    outputs: [tensor("f32[T,256]")],
    grid: [4, 1, 1],
    passed_over: ["linear.wgsl.matrix: device lacks subgroup_matrix", "linear.wgsl.matvec: is for one token"],
  },
];
const REPLIES: Reply[] = [
  { verb: "inspect", result: { json: { backend: "webgpu", phases: [{ name: "prefill", max_tokens: 512, steps }] } } },
  {
    verb: "kernels",
    result: {
      kernels: [
        { name: "embed.wgsl", needs: "none", launches: [{ phase: 0, step: 0 }] },
        { name: "linear.wgsl.matrix", needs: "f16 subgroups subgroup_matrix", launches: [] },
        { name: "linear.wgsl.matmul", needs: "none", launches: [{ phase: 0, step: 1 }] },
        { name: "linear.wgsl.matvec", needs: "none", launches: [] },
        { name: "rope.wgsl", needs: "none", launches: [] },
      ],
    },
  },
  { verb: "kernel", values: { step: 0 }, result: { kernel: "embed.wgsl", phase: "prefill", wgsl: GOOD, passedOver: [] } },
  { verb: "kernel", values: { step: 1 }, result: { kernel: "linear.wgsl.matmul", phase: "prefill", wgsl: BROKEN, passedOver: steps[1]?.passed_over } },
];

test("kernels: the catalogue for a model on the CPU", async ({ open }) => {
  const page = await open("kernels");
  const options = page.getByRole("listbox").getByRole("option");
  await expect.poll(() => options.count()).toBeGreaterThan(90);
  await expect(page.getByRole("button", { name: "Compile here" })).toBeDisabled();
  const search = page.getByRole("combobox", { name: "Search for kernels" });
  await search.fill("linear subgroup");
  const first = await options.first().locator(".mono").textContent();
  await expect(page.getByRole("heading", { name: first ?? "" })).toBeVisible();
  await search.press("ArrowDown");
  await expect(options.nth(1)).toHaveAttribute("aria-selected", "true");
  await search.fill("");
  await page.getByRole("combobox", { name: "What it needs" }).selectOption("f16");
  await expect(options.first()).toContainText("needs f16");
});

test("kernels: texts, reasons, compiling", async ({ open }) => {
  test.setTimeout(120_000);
  const page = await open("kernels", async (made) => void (await answer(made, REPLIES)));
  const list = page.getByRole("listbox");
  const options = list.getByRole("option");
  await expect(options).toHaveCount(2);
  await list.focus();
  await page.keyboard.press("End");
  await expect(page.locator("pre")).toContainText("out[id.x] = nothing");
  await expect(page.getByText("linear.wgsl.matvec: is for one token")).toBeVisible();

  await page.getByRole("button", { name: "Compile here" }).click();
  await expect(page.getByText("2 kernels, 2 texts")).toBeVisible();
  await expect(options.nth(0)).toContainText("✓ compiled in");
  await expect(options.nth(1)).toContainText("✗ line 5");
  await checkLooks(page, "kernels");

  await page.getByLabel("used by the model").uncheck();
  await expect(options).toHaveCount(5);
  await page.getByRole("combobox", { name: "Search for kernels" }).fill("matrix");
  await expect(page.getByText("1 step: device lacks subgroup_matrix")).toBeVisible();
  await expect(page.getByText("No: it lacks")).toBeVisible();
});

test("kernels: for a device that is not here", async ({ open }) => {
  const page = await open("kernels");
  const needs = page.getByRole("listbox").locator(".faint");
  const chosen = async () => (await needs.allTextContents()).join("\n");
  const choose = async (title: RegExp, name: RegExp) => {
    await page.getByLabel("Device").selectOption(await page.getByLabel("Device").locator("option", { hasText: title }).getAttribute("value"));
    await expect(page.locator("#device .status")).toContainText(name);
  };
  await choose(/^no features/, /on an assumed device \(none\)/);
  await expect.poll(() => page.getByRole("listbox").getByRole("option").count()).toBeGreaterThan(5);
  expect(await chosen()).not.toMatch(/f16|subgroups/);
  await expect(page.locator("pre")).toContainText("fn main");
  await choose(/NVIDIA/, /on an assumed device \(f16 subgroups dot4\)/);
  await expect.poll(chosen).toMatch(/needs .*subgroups/);
  await page.getByRole("combobox", { name: "Search for kernels" }).fill("subgroup");
  await expect(page.locator("pre")).toContainText("enable subgroups");
  await expect(page.getByText("Yes: it has")).toBeVisible();
  await expect(page.getByRole("button", { name: "Compile here" })).toBeDisabled();
  await checkLooks(page, "kernels-device");
});

test("kernels: the life of a token leads to each kernel, why it was chosen and its text", async ({ open }) => {
  test.setTimeout(120_000);
  const page = await open("kernels");
  await page.getByLabel("Device").selectOption({ label: "no features: every WebGPU device" });
  const life = page.getByRole("region", { name: "The life of a token" });
  await expect(life.locator(".life-count")).toHaveText(["× 2 layers"]);
  const boxes = life.getByRole("button");
  await expect(boxes.first()).toContainText("embed");
  await boxes.filter({ hasText: "attention" }).first().press("Enter");
  await expect(page.locator(".detail-of-kernel h2")).toHaveText(/^(step_)?attention\.wgsl/);
  await expect(page.getByLabel("Step")).toContainText("greedy");
  await expect(page.locator("#kernel-place option:checked")).toHaveText(/^greedy \d+:/);
  await expect(page.getByText(/^5 variants of step attention would be better, and do not run here; this is the best that does\.$/)).toBeVisible();
  await expect(page.locator("pre .code-word").first()).toBeVisible(); // in colours
  const wgsl = page.locator("pre");
  await expect(wgsl).toContainText("const HEAD");
  const before = (await wgsl.textContent())!;
  await page.getByLabel("constants as numbers").check();
  await expect(wgsl).not.toHaveText(before);
  await checkLooks(page, "kernels-life");
});
