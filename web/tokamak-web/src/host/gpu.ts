// The imports "gpu" over the browser's WebGPU; src/backend/webgpu/web/imports.h says what each does.
import type { KernelChange } from "../api.ts";
import { Futures } from "./futures.ts";
import { Handles } from "./handles.ts";
import type { Memory } from "./memory.ts";
import { FINE, INTERNAL, INVALID, LOST, NO_MEMORY, type Outcome, outcomeOf } from "./outcome.ts";
import type { Import } from "./waiting.ts";

const SCOPES: Record<number, GPUErrorFilter> = {
  [INVALID]: "validation",
  [NO_MEMORY]: "out-of-memory",
  [INTERNAL]: "internal",
};
// WGPUBufferBindingType.
const BUFFER_TYPES: Record<number, GPUBufferBindingType> = {
  2: "uniform",
  3: "storage",
  4: "read-only-storage",
};
// A loss is told later than what fails since the device is lost.
const LOSS_DELAY_MS = 100;

interface Asked {
  requiredFeatures: GPUFeatureName[];
  requiredLimits: Record<string, number>;
}

interface Watched {
  events: { outcome: Outcome; message: string }[];
  loss: Promise<void>;
}

/** The listener of the page for the device. */
export interface DeviceWatch {
  lost(reason: string): void;
  /** A device is there again after a loss. */
  restored(name: string): void;
  /** Counts the pipelines that are compiled, and those that were asked for until now. */
  compiling?(done: number, asked: number): void;
}

export interface GpuImports {
  /** The call that the module is to be suspended on. */
  wait(future: number): Promise<void>;
  /** All other imports. */
  imports: Record<string, Import>;
}

const altered = (wgsl: string, kernel: string, alter?: KernelChange): string =>
  alter?.kernel === kernel ? wgsl.replaceAll(alter.from, () => alter.to) : wgsl;

/** `gpu`: navigator.gpu. */
export function gpuImports(
  gpu: GPU | undefined,
  memory: Memory,
  tell: DeviceWatch = { lost() {}, restored() {} },
  alter?: KernelChange,
): GpuImports {
  const handles = new Handles();
  const futures = new Futures();
  const requests = new Map<GPUAdapter, Asked>(); // what an adapter's next device is asked for
  const devices = new Map<object, Watched>(); // what a device has reported
  const destroyed = new WeakSet<GPUDevice>(); // by the module, which is no loss
  let isLost = false;
  const pipelines = { done: 0, asked: 0 };
  const countPipeline = (made: Promise<GPUComputePipeline>) => {
    const count = (name: keyof typeof pipelines) => {
      pipelines[name] += 1;
      tell.compiling?.(pipelines.done, pipelines.asked);
    };
    count("asked");
    made.then(() => count("done"), () => count("done"));
    return made;
  };

  const get = <T extends object>(number: number) => handles.get<T>(number);
  const request = (adapter: GPUAdapter) => {
    let asked = requests.get(adapter);
    if (!asked) {
      asked = { requiredFeatures: [], requiredLimits: {} };
      requests.set(adapter, asked);
    }
    return asked;
  };
  const watch = (device: GPUDevice) => {
    const events: Watched["events"] = [];
    device.addEventListener("uncapturederror", ({ error }) => {
      events.push({ outcome: outcomeOf(error), message: error.message });
    });
    const loss = device.lost.then(({ message, reason }) => {
      events.push({ outcome: LOST, message: message || reason });
      if (destroyed.has(device)) return;
      isLost = true;
      tell.lost(message || reason);
    });
    devices.set(device, { events, loss });
    if (isLost) tell.restored(device.label);
    isLost = false;
    return device;
  };

  // A member of an object of the browser's whose name the module has.
  const member = (object: object, name: number, bytes: number): unknown =>
    (object as Record<string, unknown>)[memory.text(name, bytes)];

  const wait = async (number: number) => {
    const future = futures.get(number);
    await future.promise;
    if (future.outcome === FINE) return;
    const delay = new Promise((resolve) => setTimeout(resolve, LOSS_DELAY_MS));
    await Promise.race([delay, ...Array.from(devices.values(), ({ loss }) => loss)]);
  };

  const imports: Record<string, Import> = {
    ready: (future) => Number(futures.get(future).done),
    outcome: (future) => futures.get(future).outcome,
    object: (future) => handles.add(futures.get(future).result),
    message: (future, out, capacity) => memory.write(futures.get(future).message, out, capacity),
    forget: (future) => futures.forget(future),

    request_adapter: () =>
      futures.add(
        Promise.resolve(gpu?.requestAdapter({ powerPreference: "high-performance" }) ?? null),
        (future, adapter) => {
          future.result = adapter;
        },
      ),
    adapter_text: (adapter, name, bytes, out, capacity) =>
      memory.write(String(member(get<GPUAdapter>(adapter).info, name, bytes) ?? ""), out, capacity),
    adapter_number: (adapter, name, bytes) =>
      Number(member(get<GPUAdapter>(adapter).info, name, bytes) ?? 0),
    limit: (object, name, bytes) =>
      Number(member(get<GPUAdapter | GPUDevice>(object).limits, name, bytes) ?? 0),
    has_feature: (object, name, bytes) =>
      Number(get<GPUAdapter | GPUDevice>(object).features.has(memory.text(name, bytes))),
    has_language_feature: (name, bytes) =>
      Number(gpu?.wgslLanguageFeatures?.has(memory.text(name, bytes)) ?? false),
    require_feature: (adapter, name, bytes) => {
      request(get(adapter)).requiredFeatures.push(memory.text(name, bytes) as GPUFeatureName);
    },
    require_limit: (adapter, name, bytes, value) => {
      request(get(adapter)).requiredLimits[memory.text(name, bytes)] = value;
    },
    request_device: (number, label, bytes) => {
      const adapter = get<GPUAdapter>(number);
      const asked = { ...request(adapter), label: memory.text(label, bytes) };
      requests.delete(adapter);
      return futures.add(adapter.requestDevice(asked), (future, device) => {
        future.result = watch(device);
      });
    },
    take_event: (device, out, capacity, length) => {
      const event = devices.get(get(device))?.events.shift();
      if (!event) return FINE;
      memory.numbers(length, 1)[0] = memory.write(event.message, out, capacity);
      return event.outcome;
    },
    push_error_scope: (device, outcome) => get<GPUDevice>(device).pushErrorScope(SCOPES[outcome] ?? "validation"),
    pop_error_scope: (device) =>
      futures.add(get<GPUDevice>(device).popErrorScope(), (future, error) => {
        if (!error) return;
        future.outcome = outcomeOf(error);
        future.message = error.message;
      }),
    destroy_device: (number) => {
      const device = get<GPUDevice>(number);
      destroyed.add(device);
      device.destroy();
    },
    release: (number) => {
      const object = handles.take(number);
      // Left to the collector, the memory of a model would stay as long as that likes.
      if (object instanceof GPUBuffer) object.destroy();
      devices.delete(object);
    },

    queue: (device) => handles.add(get<GPUDevice>(device).queue),
    buffer: (device, size, usage, label, bytes) =>
      handles.add(get<GPUDevice>(device).createBuffer({ size, usage, label: memory.text(label, bytes) })),
    shader_module: (device, text, textBytes, name, bytes) => {
      const label = memory.text(name, bytes);
      const code = altered(memory.text(text, textBytes), label, alter);
      return handles.add(get<GPUDevice>(device).createShaderModule({ code, label }));
    },
    bind_group_layout: (device, types, count) => {
      const entries = Array.from(memory.numbers(types, count), (type, binding) => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: BUFFER_TYPES[type] ?? "storage" },
      }));
      return handles.add(get<GPUDevice>(device).createBindGroupLayout({ entries }));
    },
    pipeline_layout: (device, layouts, count) =>
      handles.add(
        get<GPUDevice>(device).createPipelineLayout({
          bindGroupLayouts: Array.from(memory.numbers(layouts, count), get<GPUBindGroupLayout>),
        }),
      ),
    compute_pipeline: (device, layout, module, entry, entryBytes, label, bytes) =>
      futures.add(
        countPipeline(get<GPUDevice>(device).createComputePipelineAsync({
          label: memory.text(label, bytes),
          layout: get<GPUPipelineLayout>(layout),
          compute: { module: get<GPUShaderModule>(module), entryPoint: memory.text(entry, entryBytes) },
        })),
        (future, pipeline) => {
          future.result = pipeline;
        },
      ),
    bind_group: (device, layout, address, count) => {
      const numbers = memory.doubles(address, 3 * count);
      const entries = Array.from({ length: count }, (_, binding) => ({
        binding,
        resource: {
          buffer: get<GPUBuffer>(numbers[3 * binding] ?? 0),
          offset: numbers[3 * binding + 1] ?? 0,
          size: numbers[3 * binding + 2] ?? 0,
        },
      }));
      const group = { layout: get<GPUBindGroupLayout>(layout), entries };
      return handles.add(get<GPUDevice>(device).createBindGroup(group));
    },
    timestamps: (device, count) =>
      handles.add(get<GPUDevice>(device).createQuerySet({ type: "timestamp", count })),
    command_encoder: (device) => handles.add(get<GPUDevice>(device).createCommandEncoder()),

    begin_pass: (encoder, timestamps, begin, end) => {
      const times = timestamps !== 0 && {
        querySet: get<GPUQuerySet>(timestamps),
        beginningOfPassWriteIndex: begin,
        endOfPassWriteIndex: end,
      };
      const pass = times ? { timestampWrites: times } : {};
      return handles.add(get<GPUCommandEncoder>(encoder).beginComputePass(pass));
    },
    set_pipeline: (pass, pipeline) =>
      get<GPUComputePassEncoder>(pass).setPipeline(get(pipeline)),
    set_bind_group: (pass, index, group) =>
      get<GPUComputePassEncoder>(pass).setBindGroup(index, get(group)),
    dispatch: (pass, x, y, z) =>
      get<GPUComputePassEncoder>(pass).dispatchWorkgroups(x, y, z),
    end_pass: (pass) => get<GPUComputePassEncoder>(pass).end(),
    copy: (encoder, from, fromOffset, to, toOffset, size) =>
      get<GPUCommandEncoder>(encoder).copyBufferToBuffer(
        get<GPUBuffer>(from),
        fromOffset,
        get<GPUBuffer>(to),
        toOffset,
        size,
      ),
    resolve: (encoder, timestamps, first, count, buffer, offset) =>
      get<GPUCommandEncoder>(encoder).resolveQuerySet(
        get(timestamps),
        first,
        count,
        get(buffer),
        offset,
      ),
    finish: (encoder) => handles.add(get<GPUCommandEncoder>(encoder).finish()),
    submit: (queue, commands, count) =>
      get<GPUQueue>(queue).submit(
        Array.from(memory.numbers(commands, count), get<GPUCommandBuffer>),
      ),
    write: (queue, buffer, offset, address, size) =>
      get<GPUQueue>(queue).writeBuffer(get(buffer), offset, memory.bytes(address, size)),
    work_done: (queue) => futures.add(get<GPUQueue>(queue).onSubmittedWorkDone()),

    map: (buffer, mode, offset, size) =>
      futures.add(get<GPUBuffer>(buffer).mapAsync(mode, offset, size)),
    read_mapped: (number, offset, size, out) => {
      const buffer = get<GPUBuffer>(number);
      if (buffer.mapState !== "mapped") return 0;
      memory.bytes(out, size).set(new Uint8Array(buffer.getMappedRange(offset, size)));
      return 1;
    },
    unmap: (buffer) => get<GPUBuffer>(buffer).unmap(),
  };
  return { wait, imports };
}
