// The documentation: pages of the repository's markdown, the search, the example that runs.
import type { Page } from "@playwright/test";
import { checkLooks, expect, test as base } from "./pages.ts";

/** Opens a page that needs no model; errors of its console fail the test. */
const test = base.extend<{ visit(path: string): Promise<Page> }>({
  visit: async ({ context, server }, use) => {
    const errors: string[] = [];
    await use(async (path) => {
      const page = await context.newPage();
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(`${server.address}${path}`);
      return page;
    });
    expect(errors).toEqual([]);
  },
});

test("the list of pages leads to all of them", async ({ visit }) => {
  const page = await visit("docs.html");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Docs");
  await checkLooks(page, "docs");
  const links = await page.locator("#contents a").evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
  expect(links.length).toBeGreaterThan(40);
  const answers = await Promise.all(links.map((link) => page.request.head(link)));
  expect(answers.filter((answer) => !answer.ok()).map((answer) => answer.url())).toEqual([]);
});

test("a page has its title, tables, anchors and links to others", async ({ visit }) => {
  const page = await visit("docs/browser.html");
  await expect(page).toHaveTitle("In the browser – Tokamak");
  await expect(page.locator("#contents [aria-current]")).toHaveText("In the browser");
  await expect(page.locator("main table").first()).toBeVisible();
  await checkLooks(page, "docs-browser");
  await page.goto(page.url() + "#how-it-works");
  await expect(page.locator("#how-it-works")).toBeInViewport();
  await page.locator("main").getByRole("link", { name: "README" }).click();
  await expect(page).toHaveURL(/docs\/tokamak-web\.html$/);
  await page.getByRole("link", { name: "Bench" }).click();
  await expect(page).toHaveURL(/\/bench\.html$/);
});

test("no link of any page leads nowhere", async ({ request, server }) => {
  const anchorsOf = new Map<string, Set<string>>();
  const texts = new Map<string, string>();
  const index = await (await request.get(`${server.address}docs.html`)).text();
  for (const [, name = ""] of index.matchAll(/href="docs\/([^"#]+\.html)"/g)) {
    const text = await (await request.get(`${server.address}docs/${name}`)).text();
    texts.set(name, text);
    anchorsOf.set(name, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id)));
  }
  const wrong: string[] = [];
  for (const [name, text] of texts) {
    for (const [, href = ""] of text.matchAll(/<a href="([^":]*)"/g)) {
      if (href.startsWith("../")) continue;
      const [page, anchor] = href.split("#");
      const anchors = anchorsOf.get(page || name);
      if (!anchors || (anchor && !anchors.has(decodeURIComponent(anchor)))) wrong.push(`${name}: ${href}`);
    }
  }
  expect(wrong).toEqual([]);
  const pictures = [...texts.values()].flatMap((text) => [...text.matchAll(/<img src="([^"]+)" alt="[^"]/g)].map(([, src = ""]) => src));
  expect(pictures.length).toBeGreaterThan(10);
  for (const picture of pictures) expect((await request.get(`${server.address}docs/${picture}`)).ok()).toBe(true);
});

test("the search is used by keyboard", async ({ visit }) => {
  const page = await visit("docs/browser.html");
  await page.keyboard.press("/");
  const field = page.getByRole("searchbox");
  await expect(field).toBeFocused();
  await page.keyboard.type("device lost");
  const results = page.locator("#results a");
  await expect(results.first()).toBeVisible();
  await expect(results.first().locator("mark").first()).toBeVisible();
  await expect(page.locator("#search [role=status]")).toHaveText(/^\d+ results$/);
  await checkLooks(page, "docs-search");
  await page.keyboard.press("ArrowDown");
  await expect(results.first()).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(results.nth(1)).toBeFocused();
  const href = await results.nth(1).evaluate((link) => (link as HTMLAnchorElement).href);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(href);
  await expect(field).toBeVisible(); // the page there has its scripts
  await page.keyboard.press("/");
  await expect(field).toBeFocused();
  await page.keyboard.type("zzzqqq");
  await expect(page.locator("#results")).toContainText("Nothing has all of these words.");
  await page.keyboard.press("Escape");
  await expect(page.locator("#results")).toBeHidden();
});

for (const name of ["docs", "docs/browser"]) {
  test(`the example of ${name}.html runs`, async ({ visit }) => {
    const page = await visit(`${name}.html?cpu&model=/talking/`);
    const panel = page.locator(".example");
    await panel.getByRole("button", { name: "Run" }).focus();
    await page.keyboard.press("Enter");
    await expect(panel.locator(".output")).not.toBeEmpty();
    await expect(panel.getByRole("status")).toHaveText(/^finish: \w+, promptTokens: \d+/);
    if (name === "docs") await checkLooks(page, "docs-example");
  });
}
