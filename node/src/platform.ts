// The package for this platform: the addon, the library and the program. A source tree that is built has them in its
// build folders.
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TokamakError } from "./errors.ts";

const PLATFORMS = ["linux-x64", "linux-arm64"];
const HERE = `${process.platform}-${process.arch}`;
const PACKAGE = `tokamak-node-${HERE}`;
const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** The folder of the package for this platform; undefined where it is not installed. */
function packageFolder(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`));
  } catch {
    return undefined;
  }
}

/** The build folders of the source tree that this package lies in, that of the preset "release" first. */
function buildFolders(): string[] {
  const builds = join(ROOT, "build");
  if (!existsSync(join(ROOT, "include", "tokamak", "c.h")) || !existsSync(builds)) return [];
  const names = readdirSync(builds).sort();
  return ["release", ...names.filter((name) => name !== "release")].map((name) => join(builds, name));
}

function isMusl(): boolean {
  if (process.platform !== "linux") return false;
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined;
}

/** The reason why there is no package for this platform, and what to do. */
function advice(variable: string): string {
  if (!PLATFORMS.includes(HERE)) {
    return `There is no package for ${HERE}, but for ${PLATFORMS.join(" and ")}. Build Tokamak here and name the file in ${variable}.`;
  }
  if (isMusl()) return `${PACKAGE} needs glibc, and this system has musl. Build Tokamak here and name the file in ${variable}.`;
  return (
    `Install ${PACKAGE} in the version of this package: package managers leave it out with --omit=optional, and where a lock file ` +
    `was made on another platform. Or name the file in ${variable}.`
  );
}

/** The first of the places that `use` takes; an error lists them all. */
function find<T>(what: string, variable: string, path: string[], use: (file: string) => T): T {
  const tried: string[] = [];
  const attempt = (file: string): { value: T } | undefined => {
    if (!existsSync(file)) {
      tried.push(`${file} (no such file)`);
      return undefined;
    }
    try {
      return { value: use(file) };
    } catch (error) {
      tried.push(`${file} (${(error as Error).message})`);
      return undefined;
    }
  };
  const given = process.env[variable];
  const installed = packageFolder();
  if (!given && !installed) tried.push(`${PACKAGE} (not installed)`);
  const folders = [...(installed ? [installed] : []), ...buildFolders()];
  for (const file of given ? [given] : folders.map((folder) => join(folder, ...path))) {
    const found = attempt(file);
    if (found) return found.value;
  }
  const why = given ? `It is named in ${variable}.` : advice(variable);
  throw new TokamakError("usage", `${what} was not found. ${why} Tried:${tried.map((place) => `\n  ${place}`).join("")}`);
}

/** Loads the addon: that of TOKAMAK_NODE_ADDON, of the package for this platform, or of a build folder. */
export function findAddon<T>(load: (file: string) => T): T {
  return find("The addon of Tokamak", "TOKAMAK_NODE_ADDON", ["lib", "tokamak", "tokamak.node"], load);
}

/** The path of the program: that of TOKAMAK_PROGRAM, of the package for this platform, or of a build folder. */
export function findProgram(): string {
  return find("The program of Tokamak", "TOKAMAK_PROGRAM", ["bin", "tokamak"], (file) => file);
}
