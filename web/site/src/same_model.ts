// Whether two names are of the same weights, though each engine has its own builds of them.

/** The name without its owner and what a build adds: "Qwen/Qwen3-0.6B-GGUF" and "Qwen3-0.6B-q4f16_1-MLC" are "qwen3-0.6b". */
export function modelOf(name: string): string {
  const last = name.replace(/\/+$/, "").split("/").at(-1) ?? "";
  return last.toLowerCase().replace(/\.gguf$/, "").replace(/(?:[-_.](?:onnx|mlc|gguf|web|q\d\w*|f16|bf16|f32))+$/, "");
}

/** The characters with which both texts begin. */
export function commonLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  return at;
}
