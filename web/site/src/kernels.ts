// Every WGSL kernel of the engine, and what the open model does with it.
import { type Look, type LookOptions, look } from "tokamak-web";
import { byId, h } from "./dom.ts";
import { type Compiler, openCompiler } from "./kernels/compile.ts";
import { type Catalogue, type Kernel, catalogueOf } from "./kernels/data.ts";
import { deviceChoice } from "./kernels/device.ts";
import { kernelDetail } from "./kernels/detail.ts";
import { lifeOfToken } from "./kernels/life.ts";
import { type KernelList, kernelList } from "./kernels/list.ts";
import { seconds } from "./numbers.ts";
import { settings } from "./asked.ts";
import { placeOf, progressText } from "./opening.ts";
import { showError } from "./shell.ts";
import { joinLook, type Model } from "./site_model.ts";

/** The texts of a kernel, one for each kind of operands that the model gives it. */
async function textsOf(kernel: Kernel, engine: Look): Promise<Set<string>> {
  const texts = new Set<string>();
  for (const place of kernel.launches) {
    const { wgsl } = await engine.kernel(place);
    if (wgsl) texts.add(wgsl);
  }
  return texts;
}

/** Compiles what the model runs, and notes in the list what came of it. Gives a sentence. */
async function compileAll(
  engine: Look,
  { kernels }: Catalogue,
  { note }: KernelList,
  compiler: Compiler,
  tell: (text: string) => void,
): Promise<string> {
  const used = kernels.filter(({ launches }) => launches.length > 0);
  let count = 0;
  let failed = 0;
  let all = 0;
  for (const [index, kernel] of used.entries()) {
    tell(`Compiling ${kernel.name}, ${index + 1} of ${used.length} …`);
    const texts = await textsOf(kernel, engine);
    let time = 0;
    let failure = "";
    for (const text of texts) {
      const found = await compiler.compile(text);
      time += found.seconds;
      failure ||= found.failure;
    }
    count += texts.size;
    all += time;
    failed += failure ? 1 : 0;
    const times = texts.size === 1 ? "compiled" : `${texts.size} texts compiled`;
    note(kernel.name, failure ? `✗ ${failure}` : `✓ ${times} in ${seconds(time)}`, failure ? "wrong" : "right");
  }
  const outcome = failed === 0 ? "all compile." : failed === 1 ? "one does not compile." : `${failed} do not compile.`;
  return `${used.length} kernels, ${count} texts, ${seconds(all)}: ${outcome}`;
}

function compilePanel(engine: Look, catalogue: Catalogue, list: KernelList): HTMLElement {
  const status = h("span", { class: "status", role: "status" });
  const button = h("button", { type: "button" }, "Compile here");
  const panel = h("div", { class: "row" }, button, status);
  const tell = (text: string) => (status.textContent = text);
  if (device.device()) {
    button.disabled = true;
    tell("That device is not here to compile anything.");
  } else if (catalogue.kernels.every(({ launches }) => launches.length === 0)) {
    button.disabled = true;
    tell("The model runs on the CPU, so that it has no texts to compile.");
  } else {
    tell("Compiles what the model runs, each text for itself.");
  }
  button.addEventListener("click", async () => {
    button.disabled = true;
    panel.parentElement?.querySelector(":scope > .error")?.remove();
    let compiler: Compiler | null = null;
    try {
      compiler = await openCompiler();
      tell(await compileAll(engine, catalogue, list, compiler, tell));
    } catch (error) {
      tell("");
      showError(panel.parentElement ?? panel, error);
    } finally {
      compiler?.close();
      button.disabled = false;
    }
  });
  return panel;
}

/** The site's model, and how it is looked at for a device that is not here. */
let model: Model<Look> | null = null;
let assumed: Look | null = null;
let abort: AbortController | null = null;

const place = byId("kernels");
const status = h("p", { class: "status", role: "status" });
const device = deviceChoice(() => void show());

/** The model as it would run on the device that is chosen. */
async function lookedAt({ own, source }: Model<Look>, signal: AbortSignal): Promise<Look> {
  const chosen = device.device();
  status.textContent = "";
  if (!chosen) return own;
  const { backend: _, ...asked } = settings().options;
  const onProgress: LookOptions["onProgress"] = (progress) => (status.textContent = `${progressText(progress)} …`);
  const found = await look(source, { ...asked, device: chosen, signal, onProgress });
  await assumed?.close();
  assumed = found;
  status.textContent = `${found.model.name} on ${placeOf(found.adapter)}.`;
  return found;
}

async function draw(own: Model<Look>, signal: AbortSignal): Promise<void> {
  // The processor runs no WGSL: the texts are shown for a device that is common, unless the address asks for the processor.
  if (own.own.adapter.backend === "cpu" && settings().options.backend === undefined) device.assume();
  const engine = await lookedAt(own, signal);
  const catalogue = await catalogueOf(engine);
  if (signal.aborted) return;
  const detail = kernelDetail(engine, catalogue);
  const list = kernelList(catalogue.kernels, detail.show);
  const life = lifeOfToken(catalogue.plan, (phase, step) => {
    list.choose(catalogue.plan.phases[phase]?.steps[step]?.kernel ?? "");
    detail.showStep({ phase, step });
  });
  place.replaceChildren(life ?? "", compilePanel(engine, catalogue, list), h("div", { class: "beside" }, list.element, detail.element));
}

async function show(): Promise<void> {
  if (!model) return;
  abort?.abort();
  const own = new AbortController();
  abort = own;
  try {
    await draw(model, own.signal);
  } catch (error) {
    if (!own.signal.aborted) showError(place, error);
  }
}

byId("device").append(device.element, status);
joinLook({
  place: byId("opener"),
  opened: (found) => {
    model = found;
    void show();
  },
});
