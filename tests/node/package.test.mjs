// The packages as they are published: laid out, found, and what is told where they are not.
import assert from "node:assert/strict";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { PROGRAM, run, SOURCE, STORYTELLER } from "./shared.mjs";

const ADDON = process.env.TOKAMAK_NODE_ADDON ?? join(SOURCE, "build", "release", "lib", "tokamak", "tokamak.node");
const LIBRARY = process.env.TOKAMAK_LIBRARY ?? join(SOURCE, "build", "release", "lib", "libtokamak.so");
const PLATFORM = `tokamak-node-linux-${process.arch}`;

const folder = mkdtempSync(join(tmpdir(), "tokamak-node-"));
const staged = join(folder, "staged");
const modules = join(folder, "project", "node_modules");
const project = dirname(modules);
const COMMAND = join(modules, "tokamak-node", "bin", "tokamak.js");
after(() => rmSync(folder, { recursive: true }));

/** The environment of somebody who has nothing but the packages. */
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TOKAMAK_")));
const nodeIn = (args, more = {}) => run(process.execPath, args, { cwd: project, env: { ...environment, ...more }, timeout: 60_000 });
const importing = (more) => nodeIn(["--input-type=module", "-e", `import { version } from "tokamak-node"; console.log(version());`], more);
const failure = (promise) =>
  promise.then(
    () => assert.fail("no error"),
    (error) => error,
  );

/** A folder of an installed build, as `cmake --install` makes it. */
before(async () => {
  for (const part of ["bin", "lib/tokamak", "lib/cmake", "share/tokamak/models"]) mkdirSync(join(staged, part), { recursive: true });
  copyFileSync(PROGRAM, join(staged, "bin", "tokamak"));
  copyFileSync(LIBRARY, join(staged, "lib", "libtokamak.so.0.2.0"));
  symlinkSync("libtokamak.so.0.2.0", join(staged, "lib", "libtokamak.so.0"));
  symlinkSync("libtokamak.so.0", join(staged, "lib", "libtokamak.so"));
  copyFileSync(ADDON, join(staged, "lib", "tokamak", "tokamak.node"));
  writeFileSync(join(staged, "lib", "tokamak", "libtokamak_base.a"), "");
  symlinkSync(STORYTELLER, join(staged, "share", "tokamak", "models", "storyteller"));
  await run(process.execPath, [join(SOURCE, "node", "pack.mjs"), staged, modules]);
});

test("the packages have what they need and no more", async () => {
  const read = (name) => JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"));
  const [own, platform] = [read("tokamak-node"), read(PLATFORM)];
  assert.equal(own.optionalDependencies[PLATFORM], platform.version);
  assert.ok(!("scripts" in own) && !("scripts" in platform) && !("dependencies" in own));
  assert.deepEqual([platform.os, platform.cpu, platform.libc], [["linux"], [process.arch], ["glibc"]]);
  assert.deepEqual(readdirSync(join(modules, "tokamak-node")).sort(), ["LICENSE", "README.md", "bin", "dist", "package.json"]);
  const lib = join(modules, PLATFORM, "lib");
  assert.deepEqual(readdirSync(lib).sort(), ["libtokamak.so.0", "tokamak"]);
  assert.deepEqual(readdirSync(join(lib, "tokamak")), ["tokamak.node"]);
  for (const target of Object.values(own.exports)) {
    for (const file of typeof target === "string" ? [target] : Object.values(target)) assert.ok(existsSync(join(modules, "tokamak-node", file)), file);
  }
});

test("npm makes an archive", { skip: process.env.TOKAMAK_NPM === undefined && "there is no npm" }, async () => {
  // That of the platform takes seconds to compress.
  const { stdout } = await run(process.env.TOKAMAK_NPM, ["pack", "--json", "--dry-run", "--offline"], { cwd: join(modules, "tokamak-node") });
  const [{ files }] = JSON.parse(stdout);
  const names = files.map(({ path }) => path);
  assert.ok(names.includes("dist/index.js") && names.includes("bin/tokamak.js"), names.join());
  assert.ok(names.every((path) => !path.endsWith(".ts") || path.endsWith(".d.ts")), names.join());
});

test("a project imports, requires and runs them", async () => {
  const { version } = JSON.parse(readFileSync(join(modules, "tokamak-node", "package.json"), "utf8"));
  assert.equal((await importing()).stdout.trim(), version);
  // Node requires modules of this kind from 20.19 on.
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) {
    assert.equal((await nodeIn(["-p", `require("tokamak-node").version()`])).stdout.trim(), version);
  }
  const story = ["run", "--backend", "cpu", "--temp", "0", "-n", "4", "-p", "Once upon a time"];
  const { stdout } = await nodeIn([COMMAND, ...story]);
  assert.equal(stdout.trimEnd(), "Once upon a time, there lived a");
  const failed = await failure(nodeIn([COMMAND, "run", "--colour"]));
  assert.equal(failed.code, 2);
  assert.match(failed.stderr, /--colour/);
});

test("the examples run with the model of the package", async () => {
  cpSync(join(SOURCE, "examples", "node"), join(project, "examples"), { recursive: true, filter: (path) => !path.includes("node_modules") });
  const names = readdirSync(join(project, "examples")).filter((name) => name.endsWith(".mjs"));
  assert.ok(names.length >= 5);
  for (const name of names) {
    const { stdout, stderr } = await nodeIn([join("examples", name), "cpu"]);
    assert.ok(stdout.trim().length > 10 && stderr === "", `${name}: ${stdout}${stderr}`);
  }
});

test("an addon that is missing is told with what to do", async () => {
  const absent = join(folder, "absent.node");
  const named = await failure(importing({ TOKAMAK_NODE_ADDON: absent }));
  assert.match(named.stderr, /named in TOKAMAK_NODE_ADDON/);
  assert.ok(named.stderr.includes(`${absent} (no such file)`), named.stderr);
  const broken = join(folder, "broken.node");
  writeFileSync(broken, "no library");
  assert.match((await failure(importing({ TOKAMAK_NODE_ADDON: broken }))).stderr, /broken\.node \(.*(invalid ELF header|too short)/);

  rmSync(join(modules, PLATFORM, "lib", "tokamak", "tokamak.node"));
  assert.match((await failure(importing())).stderr, /lib\/tokamak\/tokamak\.node \(no such file\)/);
  rmSync(join(modules, PLATFORM), { recursive: true });
  const missing = await failure(importing());
  assert.ok(missing.stderr.includes(`Install ${PLATFORM}`) && missing.stderr.includes("--omit=optional"), missing.stderr);
  assert.ok(missing.stderr.includes(`${PLATFORM} (not installed)`), missing.stderr);
  const program = await failure(nodeIn([COMMAND, "list"]));
  assert.deepEqual([program.code, program.stdout], [1, ""]);
  assert.match(program.stderr, /^error: The program of Tokamak was not found\./);
});

test("a folder that lacks something is not packed", async () => {
  rmSync(join(staged, "bin", "tokamak"));
  const failed = await failure(run(process.execPath, [join(SOURCE, "node", "pack.mjs"), staged, join(folder, "out")]));
  assert.match(failed.stderr, /^error: .*staged lacks bin\/tokamak\.\n$/);
  assert.ok(!existsSync(join(folder, "out")));
});
