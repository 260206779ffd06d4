// Images in messages, as a page has them: they become parts of OpenAI's chats, which the module reads.
import type { ImagePart, Message, Part } from "./api.ts";
import { TokamakError } from "./errors.ts";

/** The file as an address that holds it. */
async function dataUrl(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  }
  return `data:${file.type || "application/octet-stream"};base64,${btoa(pieces.join(""))}`;
}

/** Without loss, but for the colours of transparent pixels. */
async function fileOf(image: ImagePart["image"]): Promise<Blob> {
  if (image instanceof Blob) return image;
  if (typeof ImageBitmap === "undefined" || !(image instanceof ImageBitmap)) {
    throw new TokamakError("usage", "An image is neither a Blob nor an ImageBitmap.");
  }
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d")?.drawImage(image, 0, 0);
  return canvas.convertToBlob({ type: "image/png" });
}

async function written(part: Part): Promise<Part> {
  return part.type === "image" ? { type: "image_url", image_url: { url: await dataUrl(await fileOf(part.image)) } } : part;
}

function inMessage(message: Message): Message | Promise<Message> {
  const { content } = message;
  return Array.isArray(content) ? Promise.all(content.map(written)).then((parts) => ({ ...message, content: parts })) : message;
}

/** The values of a text with the images in them, of messages and for a prompt, as addresses. */
export async function withWrittenImages(values: object): Promise<object> {
  const { messages, images } = values as { messages?: Message[]; images?: ImagePart["image"][] };
  return {
    ...values,
    ...(messages && { messages: await Promise.all(messages.map(inMessage)) }),
    ...(images && { images: await Promise.all(images.map((image) => written({ type: "image", image }))) }),
  };
}
