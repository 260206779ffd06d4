// The ways from a page that has no GPU, or wants another one: the processor by a click, WebGPU all the same, how it is switched on.
import type { Adapter, OpenOptions } from "tokamak-web";
import { h } from "./dom.ts";

/** This page with another backend in its address. */
function addressWith(backend: "cpu" | "webgpu"): string {
  const url = new URL(location.href);
  for (const name of ["cpu", "cpu-reference", "webgpu"]) url.searchParams.delete(name);
  url.searchParams.set(backend, "");
  return url.href.replace(`${backend}=`, backend);
}

const guide = () => h("a", { href: new URL("docs/troubleshooting.html#a-browser-without-webgpu", new URL("./", document.baseURI)).href }, "how WebGPU is switched on");

export const withoutGpu = {
  /** The line for a model that runs on the processor though nobody has asked for that. */
  opened({ backend }: Adapter, asked: OpenOptions): HTMLElement[] {
    if (backend !== "cpu" || asked.backend !== undefined) return [];
    const tried = "gpu" in navigator ? [h("a", { href: addressWith("webgpu") }, "Try WebGPU all the same"), " (a software driver is slower than the processor); "] : ["See "];
    // Folded, since it comes when the page is read already and moves what is below.
    return [h("details", { class: "hint" }, h("summary", {}, "This browser has no GPU for the model, so it runs on the processor."), h("p", {}, "What comes is right, but slower. ", ...tried, guide(), "."))];
  },
  /** The way out for who has asked for WebGPU in vain. */
  failed(error: unknown, asked: OpenOptions): HTMLElement[] {
    const { code } = error as { code?: string };
    if (asked.backend !== "webgpu" || (code !== "device" && code !== "device-lost" && code !== "unsupported")) return [];
    return [h("p", { class: "again" }, h("a", { class: "button", href: addressWith("cpu") }, "Run it on the processor"), " or see ", guide(), ".")];
  },
};
