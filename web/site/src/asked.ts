// The wishes of the page's address, and the names of models.
import type { OpenOptions, Source } from "tokamak-web";

export const BUILTIN = "built-in";

/**
 * The page's address may choose: ?model=NAME-OR-URL &cpu &cpu-reference &webgpu &limits=default &wait=asyncify &context=N
 * &selfTest=0 &pooling=mean
 */
export function settings(id = "model"): { model: string | null; options: OpenOptions } {
  const asked = new URLSearchParams(location.search);
  const options: OpenOptions = {};
  for (const backend of ["cpu", "cpu-reference", "webgpu"] as const) {
    if (asked.has(backend)) options.backend = backend;
  }
  if (asked.get("limits") === "default") options.defaultLimits = true;
  const wait = asked.get("wait");
  if (wait === "asyncify" || wait === "jspi") options.wait = wait;
  if (asked.has("context")) options.context = Number(asked.get("context"));
  if (asked.get("selfTest") === "0") options.selfTest = false;
  const pooling = asked.get("pooling");
  if (pooling === "mean" || pooling === "last" || pooling === "cls") options.pooling = pooling;
  return { model: asked.get(id), options };
}

/** The source for a name: the model beside the site, else what tokamak-web takes. */
export function sourceOf(name: string, base = "./"): Source {
  return name === BUILTIN ? new URL(`${base}models/storyteller/`, document.baseURI) : name;
}
