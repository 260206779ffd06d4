// Python's own client is a program of its own.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { served } from "./served.ts";

test("urllib", async () => {
  const program = join(import.meta.dirname, "urllib_client.py");
  await promisify(execFile)("python3", ["-B", program, served.stories]);
});
