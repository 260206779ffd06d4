// The servers that all clients ask, as node's test runner starts and stops them: `tokamak serve` on
// loopback, on ports that are free.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { vectorsKey } from "./served.ts";
import { writeByteTokenizer, writeScriptedModel } from "./scripted_model.ts";

const START_MS = 60_000;
const running: ChildProcess[] = [];
let folder = "";

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing: CTest sets it, as in ctest -R clients_test.`);
  return value;
}

/** The address that the server prints once its model is there. */
async function started(backend: string, ...flags: string[]): Promise<string> {
  const args = ["serve", "--backend", backend, "--port", "0", "--log", "off", ...flags];
  const child = spawn(required("TOKAMAK_PROGRAM"), args, { stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  let errors = "";
  child.stderr!.on("data", (text) => (errors += text));
  const patience = setTimeout(() => child.kill("SIGKILL"), START_MS);
  for await (const line of createInterface({ input: child.stdout! })) {
    const address = /^Listening on (http:\S+)$/.exec(line);
    if (!address) continue;
    clearTimeout(patience);
    return address[1]!;
  }
  throw new Error(`tokamak ${args.join(" ")} ended without listening:\n${errors}`);
}

export async function globalSetup(): Promise<void> {
  const source = required("TOKAMAK_SOURCE_DIR");
  folder = mkdtempSync(join(tmpdir(), "tokamak-clients-"));
  const scripted = join(folder, "scripted");
  writeScriptedModel(scripted, join(source, "tests/clients/scripted.jinja"));
  const vectors = join(folder, "vectors");
  cpSync(join(source, "tests/data/embeddings/qwen3_embedding"), vectors, { recursive: true });
  writeByteTokenizer(vectors);
  const stories = join(source, "models/storyteller");
  // An answer is the same after a cached beginning and beside others.
  const steady = "--batch-invariant";
  const addresses = await Promise.all([
    started("cpu", stories, steady, "--alias", "storyteller", "--context", "512", "--max-sequences", "4"),
    started("cpu", scripted, steady, "--alias", "scripted"),
    // Embeddings have the same bits alone and beside others there.
    started("cpu-reference", vectors, "--alias", "vectors", "--api-key", vectorsKey),
    started("cpu", join(source, "tests/data/vision/qwen3_5_vl_images"), steady, "--alias", "images"),
  ]);
  process.env.TOKAMAK_SERVED = addresses.join(" ");
  process.env.TOKAMAK_VECTORS = vectors;
}

export async function globalTeardown(): Promise<void> {
  for (const child of running) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  if (folder) rmSync(folder, { recursive: true });
}
