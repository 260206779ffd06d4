import { defineConfig } from "@playwright/test";

// One worker: the tests share the cores with the browser, and some of them measure.
export default defineConfig({
  testDir: "e2e",
  workers: 1,
  timeout: 60_000,
  reporter: "list",
  outputDir: "../build/web/e2e",
});
