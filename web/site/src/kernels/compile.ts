// Compiles WGSL with the page's own device, which has nothing to do with the engine's.

export interface Compiled {
  seconds: number;
  /** "" where it compiled. */
  failure: string;
}

export interface Compiler {
  compile(wgsl: string): Promise<Compiled>;
  close(): void;
}

const WANTED: GPUFeatureName[] = ["shader-f16", "subgroups"];
const LIMITS = [
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupStorageSize",
  "maxStorageBuffersPerShaderStage",
  "maxStorageBufferBindingSize",
] as const;

export async function openCompiler(): Promise<Compiler> {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error("This browser has no WebGPU here.");
  const device = await adapter.requestDevice({
    requiredFeatures: WANTED.filter((name) => adapter.features.has(name)),
    requiredLimits: Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]])),
  });
  return { compile: (wgsl) => compile(device, wgsl), close: () => device.destroy() };
}

async function compile(device: GPUDevice, code: string): Promise<Compiled> {
  const start = performance.now();
  const since = () => (performance.now() - start) / 1000;
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ code });
  const scope = device.popErrorScope();
  const { messages } = await module.getCompilationInfo();
  const wrong = messages.find(({ type }) => type === "error");
  const error = await scope;
  if (wrong) return { seconds: since(), failure: `line ${wrong.lineNum}: ${wrong.message}` };
  if (error) return { seconds: since(), failure: error.message };
  try {
    await device.createComputePipelineAsync({ layout: "auto", compute: { module } });
    return { seconds: since(), failure: "" };
  } catch (failure) {
    return { seconds: since(), failure: (failure as Error).message };
  }
}
