#!/usr/bin/env node
// pack.mjs STAGED OUT: lays out the package `tokamak-node` and that of a platform, for `npm pack` and `npm publish`.
//
// STAGED is a folder of an installed build: bin/tokamak, lib/libtokamak.so.0, lib/tokamak with the addon and what the library
// opens, share/tokamak. OUT gets tokamak-node and tokamak-node-PLATFORM. dist/ is what `npm run build` and `./dev check node` make.
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(HERE);
const ADDON = "lib/tokamak/tokamak.node";
const NEEDED = ["bin/tokamak", "lib/libtokamak.so.0", ADDON, "share/tokamak/models/storyteller/config.json"];
const FOLDERS = ["bin", "lib", "share"];
// The numbers of machines in ELF files.
const PLATFORMS = new Map([
  [62, "linux-x64"],
  [183, "linux-arm64"],
]);
// Files that programs in C++ are linked with, and links to the library, which an archive of npm does not keep.
const LEFT_OUT = /\.a$|^lib\/(cmake|pkgconfig)$|^lib\/libtokamak\.so(\.\d+\.\d+\.\d+)?$/;

/** @type {(message: string) => never} */
function fail(message) {
  console.error(`error: ${message}`);
  exit(1);
}

/** @param {string} file */
function platformOf(file) {
  const bytes = readFileSync(file);
  const machine = bytes.toString("latin1", 1, 4) === "ELF" ? bytes.readUInt16LE(18) : 0;
  return PLATFORMS.get(machine) ?? fail(`${file} is for a machine (${machine}) that has no package; those that have are ${[...PLATFORMS.values()].join(", ")}.`);
}

/**
 * Copies a folder with what its links lead to.
 * @param {string} from
 * @param {string} to
 * @param {string} path
 */
function copyFiles(from, to, path) {
  if (LEFT_OUT.test(path)) return;
  const source = realpathSync(join(from, path));
  if (statSync(source).isDirectory()) {
    for (const name of readdirSync(source)) copyFiles(from, to, `${path}/${name}`);
    return;
  }
  const target = join(to, path);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(source, target);
  chmodSync(target, path.startsWith("bin/") ? 0o755 : 0o644);
}

/**
 * @param {string} folder
 * @param {object} content
 */
function writePackage(folder, content) {
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(content, null, 2)}\n`);
}

/**
 * @param {string} staged
 * @param {string} out
 */
function pack(staged, out) {
  const missing = NEEDED.filter((name) => !existsSync(join(staged, name)));
  if (missing.length > 0) fail(`${staged} lacks ${missing.join(", ")}.`);
  if (!existsSync(join(HERE, "dist", "index.js"))) fail("node/dist is missing; `./dev check node` makes it.");
  const { scripts: _, ...own } = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8"));
  const platform = platformOf(join(staged, ADDON));
  const name = `tokamak-node-${platform}`;
  if (own.optionalDependencies[name] !== own.version) fail(`node/package.json has no ${name} of version ${own.version} in its optionalDependencies.`);

  const main = join(out, "tokamak-node");
  rmSync(main, { recursive: true, force: true });
  for (const part of ["bin", "dist", "README.md"]) cpSync(join(HERE, part), join(main, part), { recursive: true });
  writePackage(main, own);

  const folder = join(out, name);
  rmSync(folder, { recursive: true, force: true });
  for (const part of FOLDERS) copyFiles(staged, folder, part);
  const [os, cpu] = platform.split("-");
  writePackage(folder, {
    name,
    version: own.version,
    description: `The library, the program and the addon of tokamak-node for ${platform}`,
    license: own.license,
    os: [os],
    cpu: [cpu],
    libc: ["glibc"],
    files: FOLDERS,
    preferUnplugged: true,
  });
  writeFileSync(join(folder, "README.md"), `# ${name}\n\nThe library, the program and the addon of the package \`tokamak-node\` for ${platform}, with glibc. Install \`tokamak-node\`.\n`);
  console.log(`${main}\n${folder}`);
}

const [, , staged, out, ...more] = argv;
if (!staged || !out || more.length > 0) fail("usage: pack.mjs STAGED OUT");
pack(staged, out);
