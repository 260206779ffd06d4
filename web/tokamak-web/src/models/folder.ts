// A model at a plain address: a folder in the Hugging Face layout, or a .gguf file. There is no list of files: the
// known names are asked for.
import { TokamakError } from "../errors.ts";
import type { RemoteFileInfo } from "./download.ts";
import type { Description } from "./hub.ts";
import { get, getBytes, type Network, NetworkError, pieces, type Request, retry } from "./http.ts";

const TEXTS = ["generation_config.json", "tokenizer.json"];
const TOKENIZER = "tokenizer_config.json";
/** The files that the engine reads where tokenizer_config.json does not have what they have. */
const LEGACY = ["special_tokens_map.json", "added_tokens.json"];
const ADDED_TOKENS = '"added_tokens_decoder"';
/** The files of models that see or hear, whose config.json speaks of it in one of these words. */
const PROCESSORS = ["preprocessor_config.json", "processor_config.json"];
/** The template of a chat, and the file in which processors have it. */
const TEMPLATE = "chat_template.jinja", PROCESSOR_TEMPLATE = "chat_template.json";
const SENSES = /vision|image|pixel|patch|audio|speech|sound|sampling|whisper|moonshine|mel_|feature/i;
const WEIGHTS = "model.safetensors", INDEX = "model.safetensors.index.json";
const MOST_INDEX_BYTES = 64_000_000;
const MOST_CONFIG_BYTES = 4_000_000;
const MOST_UNKNOWN_BYTES = 64 << 20;

const inFolder = (folder: URL, name: string) => new URL(name.split("/").map(encodeURIComponent).join("/") + folder.search, folder);

/** The server's facts about a file; undefined where it has none. */
export async function probe(network: Network, url: string, name: string, signal: AbortSignal, isOptional: boolean):
  Promise<RemoteFileInfo | undefined> {
  const about = { name, url, sha256: null };
  const request: Request = { url, what: name, signal, range: { begin: 0, end: 1 } };
  try {
    return await retry(network, signal, async () => {
      for (const one of [request, { url, what: name, signal }]) {
        const answer = await get(network, one);
        if (answer.size !== undefined) {
          await answer.body?.cancel().catch(() => undefined);
          return { ...about, size: answer.size, version: answer.version };
        }
        if (one.range && !answer.isWhole) {
          await answer.body?.cancel().catch(() => undefined);
          continue; // the range came, but not how much there is: asked again without one
        }
        let size = 0; // told by counting only
        for await (const piece of pieces(network, one, answer)) {
          if ((size += piece.length) > MOST_UNKNOWN_BYTES) {
            throw new NetworkError(`The server does not say how long ${name} is (no Content-Length): ${url}`, false);
          }
        }
        return { ...about, size, version: answer.version };
      }
      return undefined;
    });
  } catch (error) {
    if (!(error instanceof NetworkError) || error.passes) throw error;
    if (error.status === 416) return { ...about, size: 0, version: "" }; // an empty file has no first byte
    // Some servers say 403 of what they do not have, and sites of one page answer with that page.
    if (isOptional && [200, 206, 403, 404, 410].includes(error.status ?? 0)) return undefined;
    throw error;
  }
}

/** The last word of an address. */
export function titleOf(url: URL): string {
  return decodeURIComponent(url.pathname.split("/").filter((word) => word !== "").at(-1) ?? url.host);
}

/** `folder` ends with "/". */
export async function describeFolder(folder: URL, network: Network, signal: AbortSignal): Promise<Description> {
  const find = (name: string, isOptional: boolean) => probe(network, inFolder(folder, name).href, name, signal, isOptional);
  // A file that is not there is a red line in the browser's console: only what is likely is asked for.
  const [config, weights, template, tokenizer, ...texts] = await Promise.all([find("config.json", false), find(WEIGHTS, true),
    find(TEMPLATE, true), find(TOKENIZER, true), ...TEXTS.map((name) => find(name, true))]);
  const textOf = async ({ url, name }: RemoteFileInfo) =>
    new TextDecoder().decode(await getBytes(network, { url, what: name, signal }, MOST_CONFIG_BYTES));
  const isRead = tokenizer && tokenizer.size <= MOST_CONFIG_BYTES;
  const [says, tokens] = await Promise.all([textOf(config!), isRead ? textOf(tokenizer) : ""]);
  const further = [
    ...(SENSES.test(says) ? [...PROCESSORS, ...(template ? [] : [PROCESSOR_TEMPLATE])] : []),
    ...(tokens.includes(ADDED_TOKENS) ? [] : LEGACY),
  ];
  const [index, ...others] = await Promise.all([weights ? undefined : find(INDEX, true), ...further.map((name) => find(name, true))]);
  const files = [config, template, tokenizer, ...texts, ...others];
  if (weights) {
    files.push(weights);
  } else if (index) {
    const text = await getBytes(network, { url: index.url, what: INDEX, signal }, MOST_INDEX_BYTES);
    const shards = shardsOf(new TextDecoder().decode(text));
    files.push(index, ...(await Promise.all(shards.map((name) => find(name, false)))));
  } else {
    throw new TokamakError("invalid-input", `${folder.href} has neither ${WEIGHTS} nor ${INDEX}.`);
  }
  return { name: folder.href, title: titleOf(folder), revision: "", files: files.filter((file) => file !== undefined) };
}

/** The names of the files with weights, sorted, each once. */
export function shardsOf(index: string): string[] {
  let map: unknown;
  try {
    map = (JSON.parse(index) as { weight_map?: unknown }).weight_map;
  } catch (error) {
    throw new TokamakError("invalid-input", `${INDEX} is no JSON: ${String(error)}`);
  }
  if (typeof map !== "object" || map === null) {
    throw new TokamakError("invalid-input", `${INDEX} has no "weight_map" from tensors to files.`);
  }
  const names = [...new Set(Object.values(map))].sort();
  for (const name of names) {
    if (typeof name === "string" && name !== "" && !/^\/|\\|(^|\/)\.{0,2}(\/|$)/.test(name)) continue;
    throw new TokamakError("invalid-input", `${INDEX} names the file ${JSON.stringify(name)}, which is none of its folder.`);
  }
  return names as string[];
}

export async function describeGguf(url: URL, network: Network, signal: AbortSignal): Promise<Description> {
  const name = titleOf(url);
  const split = /^(.*)-(\d{5})-of-(\d{5})(\.gguf)$/i.exec(name);
  const names = split
    ? Array.from({ length: Number(split[3]) }, (_, i) =>
        `${split[1]}-${String(i + 1).padStart(5, "0")}-of-${split[3]}${split[4]}`)
    : [name];
  const files = await Promise.all(names.map((one) => {
    const address = one === name ? url : inFolder(new URL(".", url), one);
    address.search = url.search;
    return probe(network, address.href, one, signal, false);
  }));
  return { name: url.href, title: name, revision: "", files: files.filter((file) => file !== undefined) };
}
