// How fast a model that is kept in the browser gets to the GPU, and what of the time goes where: random weights of
// SmolLM2's shape, on the software driver. Without UPLOAD it is left out.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type BrowserContext, type Page } from "@playwright/test";
import { launch } from "./browser.ts";
import { expect, test } from "./pages.ts";
import { LARGE } from "./pages_server.ts";

const FORMATS = { bf16: ["--dtype", "bf16"], f32: ["--dtype", "f32"], q4_0: ["--packing", "q4_0"] };
const REPETITIONS = 5;
/** The goal in MB/s, where no kernel is compiled meanwhile. */
const LEAST = 350;

/** Milliseconds from the first byte that is read until the GPU has the last one, and its parts. */
interface Upload {
  total: number;
  bytes: number;
  read: number;
  write: number;
  waited: number;
  calls: { read: number; write: number };
}
/** Milliseconds for the same bytes in the same pieces, without the module. */
interface Floor {
  read: number;
  write: number;
  both: number;
}

test.skip(!process.env["UPLOAD"], "UPLOAD is not given");
test.afterAll(() => rmSync(LARGE, { recursive: true, force: true }));

/** Put before the Worker's script: measures; HELD: kernels are never compiled. */
const MEASURING = `
  const channel = new BroadcastChannel("upload");
  const uploads = new Set(); // futures of the queue's
  let found, queue, isTold = false;
  const begin = () => (found = { began: 0, bytes: 0, read: 0, write: 0, waited: 0, calls: { read: 0, write: 0 } });
  begin();
  if (HELD) {
    GPUDevice.prototype.createComputePipelineAsync = () => new Promise(() => {});
  }
  const writeBuffer = GPUQueue.prototype.writeBuffer;
  GPUQueue.prototype.writeBuffer = function (...given) {
    queue = this;
    return writeBuffer.apply(this, given);
  };
  const { instantiate, Suspending } = WebAssembly;
  const suspending = new Map();
  WebAssembly.Suspending = function (own) {
    const part = { name: "", own };
    const made = new Suspending((...given) => {
      const start = performance.now();
      if (part.name === "read") {
        found.began ||= start;
        found.calls.read += 1;
      } else if (part.name === "wait" && found.bytes > 0 && !uploads.has(given[0]) && !isTold) {
        // For a kernel: all that is to be written is.
        isTold = true;
        const { began, ...parts } = structuredClone(found);
        queue.onSubmittedWorkDone().then(() => {
          const end = performance.now();
          channel.postMessage({ ...parts, waited: parts.waited + end - start, total: end - began });
        });
      }
      const result = own(...given);
      const after = performance.now();
      if (!(result instanceof Promise)) {
        if (part.name === "read") found.read += after - start;
        return result;
      }
      return result.finally(() => {
        if (found.began && start >= found.began) found.waited += performance.now() - start;
      });
    });
    suspending.set(made, part);
    return made;
  };
  WebAssembly.instantiate = (code, imports) => {
    suspending.get(imports.file.read).name = "read";
    suspending.get(imports.gpu.wait).name = "wait";
    const { compute_pipeline, write, work_done } = imports.gpu;
    imports.gpu.compute_pipeline = (...given) => { begin(); return compute_pipeline(...given); };
    imports.gpu.work_done = (...given) => {
      const future = work_done(...given);
      uploads.add(future);
      return future;
    };
    imports.gpu.write = (queue, buffer, offset, address, size) => {
      const start = performance.now();
      write(queue, buffer, offset, address, size);
      found.write += performance.now() - start;
      found.bytes += size;
      found.calls.write += 1;
    };
    return instantiate(code, imports);
  };
`;

async function measuredPage(context: BrowserContext, address: string, isHeld: boolean): Promise<Page> {
  const page = await context.newPage();
  await page.route(/\/worker\.js$/, async (route) => {
    const body = `{ const HELD = ${isHeld}; ${MEASURING} }` + (await (await route.fetch()).text());
    await route.fulfill({ contentType: "text/javascript", body });
  });
  await page.goto(`${address}tiny/config.json`);
  return page;
}

/** Opens the model until its weights are in the GPU. */
async function upload(context: BrowserContext, address: string, source: string, isHeld: boolean): Promise<Upload> {
  const page = await measuredPage(context, address, isHeld);
  const found = await page.evaluate(async ({ address, source }) => {
    const told = new Promise<unknown>((resolve) => {
      new BroadcastChannel("upload").onmessage = ({ data }) => resolve(data);
    });
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const failed = open(source, { backend: "webgpu", chunk: 8, context: 128, sequences: 1, selfTest: false }).then(() => told);
    return Promise.race([told, failed]);
  }, { address, source });
  await page.close(); // ends the Worker, whatever it waits for
  return found as Upload;
}

async function floor(context: BrowserContext, address: string, size: number): Promise<Floor> {
  const page = await context.newPage();
  await page.goto(`${address}tiny/config.json`);
  const script = `onmessage = async ({ data: size }) => {
    const PIECE = 512 << 10, PLACE = 16 << 20, FLYING = 64 << 20;
    const root = await navigator.storage.getDirectory();
    const blobs = await (await root.getDirectoryHandle("tokamak")).getDirectoryHandle("blobs");
    let file, most = 0;
    for await (const entry of blobs.values()) {
      const { size } = await entry.getFile();
      if (size > most) [file, most] = [entry, size];
    }
    const handle = await file.createSyncAccessHandle({ mode: "read-only" });
    const piece = new Uint8Array(new WebAssembly.Memory({ initial: 16 }).buffer, 0, PIECE);
    const device = await (await navigator.gpu.requestAdapter()).requestDevice();
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST;
    const time = async (reads, writes) => {
      // New ones, whose memory nobody has touched yet, as a model's.
      const buffers = Array.from({ length: Math.ceil(size / PLACE) }, () => device.createBuffer({ size: PLACE, usage }));
      await device.queue.onSubmittedWorkDone();
      const began = performance.now();
      for (let at = 0, flying = 0; at < size; at += PIECE) {
        if (reads) handle.read(piece, { at: Math.min(at, most - PIECE) });
        if (writes) device.queue.writeBuffer(buffers[Math.floor(at / PLACE)], at % PLACE, piece);
        if (writes && (flying += PIECE) % FLYING === 0) await device.queue.onSubmittedWorkDone();
      }
      device.queue.submit([]);
      await device.queue.onSubmittedWorkDone();
      const spent = performance.now() - began;
      for (const buffer of buffers) buffer.destroy();
      return spent;
    };
    postMessage({ read: await time(true, false), write: await time(false, true), both: await time(true, true) });
  };`;
  const found = await page.evaluate(({ script, size }) => {
    const worker = new Worker(URL.createObjectURL(new Blob([script])));
    worker.postMessage(size);
    return new Promise<unknown>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
  }, { script, size });
  await page.close();
  return found as Floor;
}

const middle = <T>(all: T[], by: (one: T) => number): T => all.toSorted((a, b) => by(a) - by(b))[all.length >> 1]!;

for (const [format, options] of Object.entries(FORMATS)) {
  test(`kept weights get to the GPU: ${format}`, async ({ server }, { outputDir }) => {
    test.setTimeout(300_000);
    rmSync(LARGE, { recursive: true, force: true });
    const made = spawnSync(join(import.meta.dirname, "../../tools/random_model"), ["--shape", "smollm2-135m", ...options, "--out", LARGE]);
    expect(made.status, String(made.stderr)).toBe(0);
    const source = `${server.address}large/${format === "q4_0" ? "model.gguf" : ""}`;
    mkdirSync(outputDir, { recursive: true });
    // With a profile on the disk: what a private window keeps comes from another process.
    const context = await launch(mkdtempSync(join(outputDir, "profile")), ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]);
    await upload(context, server.address, source, true); // brings it
    const uploads: Upload[] = [], floors: Floor[] = [];
    for (let at = 0; at < REPETITIONS; ++at) {
      uploads.push(await upload(context, server.address, source, true));
      floors.push(await floor(context, server.address, uploads[0]!.bytes));
    }
    const beside = await upload(context, server.address, source, false);
    await context.close();
    const typical = middle(uploads, ({ total }) => total), { total, bytes, read, write, waited, calls } = typical;
    const speed = (ms: number) => `${(bytes / 1e3 / ms).toFixed(0)} MB/s`;
    const share = (ms: number) => `${((100 * ms) / total).toFixed(0)} %`;
    const of = (name: keyof Floor) => speed(middle(floors, (one) => one[name])[name]);
    console.log(`${format}: ${(bytes / 1e6).toFixed(0)} MB to the GPU at ${speed(total)} (${uploads.map(({ total }) => speed(total)).join(", ")})\n` +
      `  reading ${share(read)} in ${calls.read} calls, writing ${share(write)} in ${calls.write}, waiting for the driver ${share(waited)}, ` +
      `the module ${share(total - read - write - waited)}\n` +
      `  without the module: reading ${of("read")}, writing ${of("write")}, one after the other ${of("both")}\n` +
      `  while the driver compiles kernels on the same cores: ${speed(beside.total)}, of which waiting ${((100 * beside.waited) / beside.total).toFixed(0)} %`);
    expect(bytes / 1e3 / total).toBeGreaterThan(LEAST);
  });
}
