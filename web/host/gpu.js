// The imports "gpu" over the browser's WebGPU; src/backend/webgpu/web/imports.h says what each does.
import { Futures } from "./futures.js";
import { Handles } from "./handles.js";
import { FINE, INTERNAL, INVALID, LOST, NO_MEMORY, outcomeOf } from "./outcome.js";

const SCOPES = { [INVALID]: "validation", [NO_MEMORY]: "out-of-memory", [INTERNAL]: "internal" };
// WGPUBufferBindingType.
const BUFFER_TYPES = { 2: "uniform", 3: "storage", 4: "read-only-storage" };
// A loss is told later than what fails since the device is lost.
const LOSS_DELAY_MS = 100;

/** `gpu`: navigator.gpu. `wait` of what it returns gives a promise, for the module to suspend on. */
export function gpuImports(gpu, memory) {
  const handles = new Handles();
  const futures = new Futures();
  const requests = new Map(); // adapter -> what its next device is asked for
  const devices = new Map(); // device -> what it has reported, and the promise of its loss

  const get = (number) => handles.get(number);
  const request = (adapter) => {
    if (!requests.has(adapter)) {
      requests.set(adapter, { requiredFeatures: [], requiredLimits: {} });
    }
    return requests.get(adapter);
  };
  const watch = (device) => {
    const events = [];
    device.addEventListener("uncapturederror", ({ error }) => {
      events.push({ outcome: outcomeOf(error), message: error.message });
    });
    const loss = device.lost.then(({ message, reason }) => {
      events.push({ outcome: LOST, message: message || reason });
    });
    devices.set(device, { events, loss });
    return device;
  };

  return {
    ready: (future) => Number(futures.get(future).done),
    async wait(number) {
      const future = futures.get(number);
      await future.promise;
      if (future.outcome === FINE) return;
      const delay = new Promise((resolve) => setTimeout(resolve, LOSS_DELAY_MS));
      await Promise.race([delay, ...Array.from(devices.values(), ({ loss }) => loss)]);
    },
    outcome: (future) => futures.get(future).outcome,
    object: (future) => handles.add(futures.get(future).result),
    message: (future, out, capacity) => memory.write(futures.get(future).message, out, capacity),
    forget: (future) => futures.forget(future),

    request_adapter: () =>
      futures.add(
        Promise.resolve(gpu?.requestAdapter({ powerPreference: "high-performance" })),
        (future, adapter) => {
          future.result = adapter;
        },
      ),
    adapter_text: (adapter, name, bytes, out, capacity) =>
      memory.write(get(adapter).info[memory.text(name, bytes)] ?? "", out, capacity),
    adapter_number: (adapter, name, bytes) =>
      Number(get(adapter).info[memory.text(name, bytes)] ?? 0),
    limit: (object, name, bytes) => Number(get(object).limits[memory.text(name, bytes)] ?? 0),
    has_feature: (object, name, bytes) =>
      Number(get(object).features.has(memory.text(name, bytes))),
    has_language_feature: (name, bytes) =>
      Number(gpu.wgslLanguageFeatures?.has(memory.text(name, bytes)) ?? false),
    require_feature: (adapter, name, bytes) => {
      request(get(adapter)).requiredFeatures.push(memory.text(name, bytes));
    },
    require_limit: (adapter, name, bytes, value) => {
      request(get(adapter)).requiredLimits[memory.text(name, bytes)] = value;
    },
    request_device: (number, label, bytes) => {
      const adapter = get(number);
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
    push_error_scope: (device, outcome) => get(device).pushErrorScope(SCOPES[outcome]),
    pop_error_scope: (device) =>
      futures.add(get(device).popErrorScope(), (future, error) => {
        if (!error) return;
        future.outcome = outcomeOf(error);
        future.message = error.message;
      }),
    destroy_device: (device) => get(device).destroy(),
    release: (number) => {
      const object = handles.take(number);
      // Left to the collector, the memory of a model would stay as long as that likes.
      if (object instanceof GPUBuffer) object.destroy();
      devices.delete(object);
    },

    queue: (device) => handles.add(get(device).queue),
    buffer: (device, size, usage, label, bytes) =>
      handles.add(get(device).createBuffer({ size, usage, label: memory.text(label, bytes) })),
    shader_module: (device, code, codeBytes, label, bytes) =>
      handles.add(
        get(device).createShaderModule({
          code: memory.text(code, codeBytes),
          label: memory.text(label, bytes),
        }),
      ),
    bind_group_layout: (device, types, count) => {
      const entries = Array.from(memory.numbers(types, count), (type, binding) => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: BUFFER_TYPES[type] },
      }));
      return handles.add(get(device).createBindGroupLayout({ entries }));
    },
    pipeline_layout: (device, layouts, count) =>
      handles.add(
        get(device).createPipelineLayout({
          bindGroupLayouts: Array.from(memory.numbers(layouts, count), get),
        }),
      ),
    compute_pipeline: (device, layout, module, entry, entryBytes, label, bytes) =>
      futures.add(
        get(device).createComputePipelineAsync({
          label: memory.text(label, bytes),
          layout: get(layout),
          compute: { module: get(module), entryPoint: memory.text(entry, entryBytes) },
        }),
        (future, pipeline) => {
          future.result = pipeline;
        },
      ),
    bind_group: (device, layout, address, count) => {
      const numbers = memory.doubles(address, 3 * count);
      const entries = Array.from({ length: count }, (_, binding) => ({
        binding,
        resource: {
          buffer: get(numbers[3 * binding]),
          offset: numbers[3 * binding + 1],
          size: numbers[3 * binding + 2],
        },
      }));
      return handles.add(get(device).createBindGroup({ layout: get(layout), entries }));
    },
    timestamps: (device, count) =>
      handles.add(get(device).createQuerySet({ type: "timestamp", count })),
    command_encoder: (device) => handles.add(get(device).createCommandEncoder()),

    begin_pass: (encoder, timestamps, begin, end) => {
      const times = timestamps && {
        querySet: get(timestamps),
        beginningOfPassWriteIndex: begin,
        endOfPassWriteIndex: end,
      };
      return handles.add(get(encoder).beginComputePass(times ? { timestampWrites: times } : {}));
    },
    set_pipeline: (pass, pipeline) => get(pass).setPipeline(get(pipeline)),
    set_bind_group: (pass, index, group) => get(pass).setBindGroup(index, get(group)),
    dispatch: (pass, x, y, z) => get(pass).dispatchWorkgroups(x, y, z),
    end_pass: (pass) => get(pass).end(),
    copy: (encoder, from, fromOffset, to, toOffset, size) =>
      get(encoder).copyBufferToBuffer(get(from), fromOffset, get(to), toOffset, size),
    resolve: (encoder, timestamps, first, count, buffer, offset) =>
      get(encoder).resolveQuerySet(get(timestamps), first, count, get(buffer), offset),
    finish: (encoder) => handles.add(get(encoder).finish()),
    submit: (queue, commands, count) =>
      get(queue).submit(Array.from(memory.numbers(commands, count), get)),
    write: (queue, buffer, offset, address, size) =>
      get(queue).writeBuffer(get(buffer), offset, memory.bytes(address, size)),
    work_done: (queue) => futures.add(get(queue).onSubmittedWorkDone()),

    map: (buffer, mode, offset, size) => futures.add(get(buffer).mapAsync(mode, offset, size)),
    read_mapped: (number, offset, size, out) => {
      const buffer = get(number);
      if (buffer.mapState !== "mapped") return 0;
      memory.bytes(out, size).set(new Uint8Array(buffer.getMappedRange(offset, size)));
      return 1;
    },
    unmap: (buffer) => get(buffer).unmap(),
  };
}
