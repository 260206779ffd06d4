// Messages of a chat as the addon takes them: plain ones with their images, or all of them as variables of the template.
import { readFile } from "node:fs/promises";
import { TokamakError } from "./errors.ts";
import type { Image, Message, Part } from "./text_api.ts";

export type PlainMessage = [role: string, content: string, images: Uint8Array[]];

type ImageOrUrl = Exclude<Part, { type: "text" }>;

export async function bytesOf(source: Image): Promise<Uint8Array> {
  if (source instanceof Uint8Array) return source;
  if (source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
  try {
    return await readFile(source);
  } catch (error) {
    throw new TokamakError("invalid-input", `${source} cannot be read: ${(error as Error).message}.`);
  }
}

function dataOf(url: string): Uint8Array {
  const found = /^data:[^,]*;base64,(.*)$/s.exec(url);
  if (!found) throw new TokamakError("invalid-input", `The image_url "${url.slice(0, 40)}" is no data: address in base64; nothing is fetched.`);
  return Buffer.from(found[1]!, "base64");
}

function imageOf(part: ImageOrUrl): Promise<Uint8Array> | Uint8Array {
  return part.type === "image" ? bytesOf(part.image) : dataOf(part.image_url.url);
}

function partsOf({ content }: Message): Part[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function isImage(part: Part): part is ImageOrUrl {
  return part.type === "image" || part.type === "image_url";
}

function textOf(message: Message): string {
  return partsOf(message)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");
}

/** Whether messages have no more than a role and a text. */
function isPlain(message: Message): boolean {
  return Object.keys(message).every((key) => key === "role" || key === "content") && typeof message.content === "string";
}

async function withImages(messages: Message[]): Promise<PlainMessage[]> {
  const odd = messages.find((message) => Object.keys(message).some((key) => key !== "role" && key !== "content"));
  if (odd) {
    throw new TokamakError(
      "usage",
      "A message has images, and one has more than a role and a content; images go with plain messages only. exchange() takes both.",
    );
  }
  return Promise.all(
    messages.map(async (message): Promise<PlainMessage> => {
      const images = await Promise.all(partsOf(message).filter(isImage).map(imageOf));
      return [message.role, textOf(message), images];
    }),
  );
}

/** The chat for the addon: messages, a promise of them where images are to be read, or variables. */
export function chatOf(messages: Message[], variables: object): { messages: PlainMessage[] | Promise<PlainMessage[]>; variables: object } {
  if (messages.some((message) => partsOf(message).some(isImage))) return { messages: withImages(messages), variables };
  if (messages.every(isPlain)) return { messages: messages.map((message) => [message.role, textOf(message), []]), variables };
  return { messages: [], variables: { ...variables, messages } };
}
