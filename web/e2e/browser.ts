// The Chromium of this machine: CHROMIUM, or the first one on the PATH. Nothing is fetched.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type BrowserContext, chromium } from "@playwright/test";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

function findChromium(): string {
  const given = process.env["CHROMIUM"];
  if (given) return given;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  for (const file of NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // the next one
    }
  }
  throw new Error(`No Chromium is on the PATH (${NAMES.join(", ")}); name one in CHROMIUM.`);
}

// Without the last one every site is told the same quota, whatever it is.
const FLAGS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-features=StaticStorageQuota"];

/** With a profile of its own in `folder`: a private window's files are in memory, and its quota is another. */
export function launch(folder: string, flags: string[] = []): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, {
    executablePath: findChromium(),
    headless: true,
    args: [...FLAGS, ...flags],
  });
}
