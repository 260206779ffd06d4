// The imports "image": the browser decodes files of images for the module. What it is given is what a native program
// reads: upright, colours as they are in the file, and where a pixel is transparent its colour all the same.
import type { Memory } from "./memory.ts";
import type { Waiting } from "./waiting.ts";

/** Colour profiles are not applied, and transparent pixels keep their colour. */
const AS_STORED: ImageBitmapOptions = {
  colorSpaceConversion: "none",
  premultiplyAlpha: "none",
  imageOrientation: "from-image",
};
/** Pixels that are in JavaScript's memory at a time. */
const STRIPE_PIXELS = 1 << 20;

/** Rows of an image, [rows, width, 4]. */
type Rgba = Uint8Array<ArrayBuffer> | Uint8ClampedArray<ArrayBuffer>;

const isOpaque = (rgba: Rgba) => {
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] !== 255) return false;
  return true;
};

/** A canvas multiplies colours by their alpha, which a texture does not. Null where there is no WebGL. */
async function straightRows(bitmap: ImageBitmap, top: number, rows: number): Promise<Rgba | null> {
  const gl = new OffscreenCanvas(1, 1).getContext("webgl2");
  if (!gl || bitmap.width > gl.getParameter(gl.MAX_TEXTURE_SIZE)) return null;
  const part = await createImageBitmap(bitmap, 0, top, bitmap.width, rows, AS_STORED);
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, part);
  part.close();
  gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, gl.getParameter(gl.TEXTURE_BINDING_2D), 0);
  const rgba = new Uint8Array(4 * bitmap.width * rows);
  gl.readPixels(0, 0, bitmap.width, rows, gl.RGBA, gl.UNSIGNED_BYTE, rgba);
  gl.getExtension("WEBGL_lose_context")?.loseContext(); // browsers have room for few contexts
  return rgba;
}

/** Gives the rows one stripe after the other. */
async function* stripes(bitmap: ImageBitmap): AsyncGenerator<Rgba> {
  const { width, height } = bitmap;
  const most = Math.max(1, Math.floor(STRIPE_PIXELS / width));
  const canvas = new OffscreenCanvas(width, Math.min(most, height));
  const context = canvas.getContext("2d", { willReadFrequently: true, colorSpace: "srgb" });
  if (!context) throw new Error("There is no canvas for it.");
  context.globalCompositeOperation = "copy";
  for (let top = 0; top < height; top += most) {
    const rows = Math.min(most, height - top);
    context.drawImage(bitmap, 0, top, width, rows, 0, 0, width, rows);
    const { data } = context.getImageData(0, 0, width, rows);
    yield isOpaque(data) ? data : ((await straightRows(bitmap, top, rows)) ?? data);
  }
}

export function imageImports(memory: Memory, waiting: Pick<Waiting, "suspending">) {
  let bitmap: ImageBitmap | null = null;
  let trouble = "";
  const told = (error: unknown) => {
    trouble = error instanceof Error ? error.message : String(error);
    return 0;
  };
  const decode = async (file: Blob, size: number) => {
    bitmap = await createImageBitmap(file, AS_STORED);
    memory.numbers(size, 2).set([bitmap.width, bitmap.height]);
    return 1;
  };
  const write = async (own: ImageBitmap, address: number) => {
    let at = address;
    for await (const rgba of stripes(own)) {
      const pixels = rgba.length / 4;
      const rgb = memory.bytes(at, 3 * pixels);
      for (let i = 0; i < pixels; i += 1) {
        rgb[3 * i] = rgba[4 * i]!;
        rgb[3 * i + 1] = rgba[4 * i + 1]!;
        rgb[3 * i + 2] = rgba[4 * i + 2]!;
      }
      at += 3 * pixels;
    }
    own.close();
    return 1;
  };
  return {
    decode: waiting.suspending((address = 0, bytes = 0, size = 0) =>
      decode(new Blob([memory.bytes(address, bytes)]), size).catch(told),
    ),
    pixels: waiting.suspending((address = 0) => {
      if (!bitmap) return told("There is no image.");
      const own = bitmap;
      bitmap = null;
      return write(own, address).catch(told);
    }),
    trouble: (address: number, capacity: number) => memory.write(trouble, address, capacity),
  };
}
