// A model on the hub: its name and its list of files go through the module, which knows both formats.
import { TokamakError } from "../errors.ts";
import type { RemoteFileInfo } from "./download.ts";
import { getBytes, type Network } from "./http.ts";
import type { VerbCaller } from "./types.ts";

export const PUBLIC_HUB = "https://huggingface.co";
const MOST_LISTING_BYTES = 64 << 20;
const MOST_SMALL_BYTES = 256 << 20;

/** The facts about a model before a byte of it is fetched. */
export interface Description {
  /** Under which it is stored. */
  name: string;
  /** For people and for the engine's messages. */
  title: string;
  revision: string;
  files: RemoteFileInfo[];
}

export interface HubName {
  repo: string;
  revision: string;
  /** A file or a quantization; "" for none. */
  file: string;
}

export interface HubFiles {
  files: { path: string; size: number; sha256: string | null }[];
  /** Files that have to be read before the others can be chosen, such as the index of shards. */
  lookUp?: string[];
}

/** The verbs of the module. */
export interface Hub {
  name(text: string): Promise<HubName>;
  /** `texts`: what the files of `lookUp` say, by their paths. */
  files(name: string, listing: string, texts: Record<string, string>): Promise<HubFiles>;
}

export function hubOf(module: VerbCaller): Hub {
  return {
    name: async (name) => {
      try {
        return (await module.call("hub_name", { name })) as HubName;
      } catch (error) {
        // The verb's name in front of the sentence is nothing for who has given the model's.
        if (error instanceof TokamakError) throw new TokamakError(error.code, error.message.replace(/^hub_name: /, ""), error.details);
        throw error;
      }
    },
    files: async (name, listing, texts) =>
      (await module.call("hub_files", { name, listing, texts })) as HubFiles,
  };
}

export function nameText({ repo, revision, file }: HubName): string {
  return repo + (revision === "main" ? "" : `@${revision}`) + (file ? `:${file}` : "");
}

const path = (text: string) => text.split("/").map(encodeURIComponent).join("/");

/** Asks the hub what the model's files are. */
export async function describeRepo(
  hub: Hub,
  name: HubName,
  network: Network,
  signal: AbortSignal,
  options: { endpoint?: string; token?: string },
): Promise<Description> {
  const endpoint = (options.endpoint ?? PUBLIC_HUB).replace(/\/+$/, "");
  const access = { signal, ...(options.token && { token: options.token }) };
  const title = nameText(name);
  const url = `${endpoint}/api/models/${name.repo}/revision/${encodeURIComponent(name.revision)}?blobs=true`;
  const text = async (from: string, what: string, most: number) =>
    new TextDecoder().decode(await getBytes(network, { url: from, what, ...access }, most));
  const listing = await text(url, `list of files of ${title}`, MOST_LISTING_BYTES);
  const commit = commitOf(listing, title, endpoint);
  const address = (file: string) => `${endpoint}/${name.repo}/resolve/${commit}/${path(file)}`;
  let found = await hub.files(title, listing, {});
  if (found.lookUp?.length) {
    const texts: Record<string, string> = {};
    for (const file of found.lookUp) texts[file] = await text(address(file), `${file} of ${title}`, MOST_SMALL_BYTES);
    found = await hub.files(title, listing, texts);
  }
  const files = found.files.map((file): RemoteFileInfo => ({
    name: file.path,
    url: address(file.path),
    size: file.size,
    sha256: file.sha256,
    version: "",
    ...(options.token && { token: options.token }),
  }));
  return { name: title, title, revision: commit, files };
}

/** The commit, so that all files are of one revision even if the branch moves on meanwhile. */
function commitOf(listing: string, title: string, endpoint: string): string {
  try {
    const { sha } = JSON.parse(listing) as { sha: unknown };
    if (typeof sha === "string" && /^[0-9a-f]{40}$/.test(sha)) return sha;
  } catch {
    // says the error below
  }
  throw new TokamakError("invalid-input", `${title}: ${endpoint} answers with a list of files that is not usable; ` +
    "expected JSON with the commit as \"sha\".");
}
