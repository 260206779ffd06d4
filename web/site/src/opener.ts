// The panel in which a visitor chooses a model and sees it open, on every page that runs one.
import { type Check, type Look, type LookOptions, type OpenOptions, type Progress, type Source, check, models } from "tokamak-web";
import { byId, h } from "./dom.ts";
import { takeDrops } from "./dropped.ts";
import { bytes } from "./numbers.ts";
import { showError } from "./shell.ts";

export const BUILTIN = "built-in";

const SUGGESTED = [
  { name: BUILTIN, about: "Storyteller, 18 MB, answers offline" },
  { name: "HuggingFaceTB/SmolLM2-135M-Instruct", about: "269 MB, quick, small talk" },
  { name: "Qwen/Qwen3-0.6B", about: "1.5 GB, many languages" },
  { name: "google/gemma-3-270m-it", about: "536 MB, needs a token of the hub" },
];

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

const PHASES: Record<Progress["phase"], string> = {
  "look-up": "Looking the model up",
  download: "Downloading",
  verify: "Checking what was downloaded",
  read: "Reading",
  "self-test": "Testing the kernels on this device",
  compile: "Compiling the kernels",
  upload: "Loading the weights",
  ready: "Ready",
};

/** A sentence on how far opening is. */
function told(progress: Progress): string {
  const { phase, loaded, total } = progress;
  const isBytes = phase !== "compile" && phase !== "self-test";
  const amount = !total ? "" : isBytes ? ` ${bytes(loaded)} of ${bytes(total)}` : ` ${loaded} of ${total}`;
  const speed = progress.bytesPerSecond ? `, ${bytes(progress.bytesPerSecond)}/s` : "";
  return `${PHASES[phase]}${amount}${speed}`;
}

/** The name of the GPU, or the processor, after "on". */
function placeOf({ backend, name }: Check["adapter"]): string {
  return backend === "cpu" ? "the processor" : name;
}

function verdictText(found: Check): string {
  if (!found.runs) return found.reason ?? "It does not run here.";
  const size = found.download > 0 ? `${bytes(found.download)} to download` : "all of it is in this browser";
  const device = found.model ? `, ${bytes(found.model.memory.total)} on ${found.adapter.backend === "cpu" ? "the processor" : "the GPU"}, ${found.model.context} tokens of context` : "";
  const fit = { fits: "It fits this device", tight: "It may be too much for this device", "too-large": "It is too large for this device", unsupported: "It does not run here" };
  return `${fit[found.verdict]}: ${size}${device}.`;
}

export interface Opener {
  readonly element: HTMLElement;
  /** Opens what the page's address names, else what is chosen first. */
  start(): Promise<void>;
}

/** The changes of a page to the panel. */
export interface Extras {
  /** Takes files that were dropped, if they are none of a model's. */
  claims?(files: File[]): boolean;
  /** Models to choose from in place of those for texts. */
  suggested?: { name: string; about: string }[];
  /** The first text in place of the built-in model; with "" nothing is opened by itself. */
  initial?: string;
  /** The mark of this panel where a page has several: its parameter of the address, and a title. */
  id?: string;
  title?: string;
  /** The further options for the model of that name. */
  options?(name: string): LookOptions;
}

/**
 * `begin` is `open`, or `look` for pages that run nothing. `opened` gets each model, in place of the one
 * before, which is closed.
 */
export function opener<T extends Look>(
  begin: (source: Source, options: LookOptions) => Promise<T>,
  opened: (model: T, name: string) => void,
  { claims, suggested, initial = BUILTIN, options = () => ({}), id = "model", title: shown = "Model" }: Extras = {},
): Opener {
  let engine: T | null = null;
  let abort: AbortController | null = null;
  const asked = settings(id);
  /** The ids of a page's only panel are plain. */
  const idOf = (own: string) => (id === "model" ? own : `${id}-${own}`);

  const name = h("input", { id, list: idOf("known-models"), autocomplete: "off", spellcheck: "false", value: asked.model ?? initial });
  const known = h("datalist", { id: idOf("known-models") }, ...(suggested ?? SUGGESTED).map((one) => h("option", { value: one.name }, one.about)));
  const files = h("input", { type: "file", id: idOf("files"), multiple: true, class: "visually-hidden" });
  const folder = h("input", { type: "file", id: idOf("folder"), webkitdirectory: true, class: "visually-hidden" });
  const status = h("p", { class: "status", role: "status", id: `${id}-status` });
  /** The memory that the model takes, shown before the download begins. */
  const budget = h("p", { class: "status", id: `${id}-budget` });
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": `Opening the ${shown.toLowerCase()}` });
  const openButton = h("button", { type: "submit" }, "Open");
  const checkButton = h("button", { type: "button", class: "quiet" }, "Does it fit?");
  const stop = h("button", { type: "button", class: "quiet", hidden: true }, "Stop");
  const form = h(
    "form",
    { class: "opener" },
    h("label", { for: id }, shown),
    h("div", { class: "row" }, name, known, openButton, checkButton, stop, ...picker(files, "Files …"), ...("webkitdirectory" in folder ? picker(folder, "Folder …") : [])),
    id === "model" && h("p", { class: "hint" }, "A name on Hugging Face, an address, or a .gguf file or a model's folder: chosen, or dropped on this page. Nothing is uploaded."),
    budget,
    bar,
    status,
  );

  const busy = (is: boolean) => {
    openButton.disabled = checkButton.disabled = is;
    stop.hidden = bar.hidden = !is;
  };
  const withSignal = async (what: (signal: AbortSignal) => Promise<void>) => {
    abort?.abort();
    abort = new AbortController();
    const { signal } = abort;
    form.querySelector(".error")?.remove();
    budget.textContent = "";
    busy(true);
    try {
      await what(signal);
    } catch (error) {
      status.textContent = "";
      if ((error as { code?: string }).code === "cancelled") status.textContent = "Stopped.";
      else showError(form, error);
    } finally {
      if (abort.signal === signal) busy(false);
    }
  };
  const isWanted = (found: Check) => {
    budget.textContent = verdictText(found);
    return found.verdict !== "too-large" || confirm(`${verdictText(found)} The tab may end while it is opened. Open it all the same?`);
  };
  const ask = (kept: { name: string; bytes?: number }[]) =>
    confirm(`The browser's storage is full. Remove ${kept.map((one) => one.name).join(", ")} to make room?`);

  const tellStops = (own: T) => {
    own.on("stopped", (why) => {
      bar.hidden = false;
      status.textContent = `${why} The model is opened again …`;
    });
    own.on("reopened", (why) => {
      bar.hidden = true;
      status.textContent = `${why} The model was opened again, and what was under way has gone on.`;
    });
    own.on("lost", (why) => (status.textContent = `The GPU was lost (${why}). It is opened again …`));
    own.on("restored", () => (status.textContent = "The GPU was lost and is there again; what was under way has gone on."));
  };

  const openModel = (source: Source, title: string) =>
    withSignal(async (signal) => {
      await engine?.close();
      engine = null;
      engine = await begin(source, {
        ...asked.options,
        ...options(title),
        signal,
        // The built-in model is small, and what a visitor chose is here already.
        ...(typeof source === "string" && { onCheck: isWanted }),
        onProgress: (progress) => {
          bar.value = progress.overall;
          status.textContent = `${told(progress)} …`;
        },
        onNotice: (text) => (status.textContent = text),
        onEvict: ask,
      });
      tellStops(engine);
      const { model, adapter } = engine;
      status.textContent = `${model.name}: ${model.architecture}, ${model.quantization}, ${bytes(model.memory.total)} on ${placeOf(adapter)}.`;
      opened(engine, title);
    });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void openModel(sourceOf(name.value.trim()), name.value.trim());
  });
  checkButton.addEventListener("click", () =>
    withSignal(async (signal) => {
      status.textContent = "Looking at the model's headers …";
      status.textContent = verdictText(await check(sourceOf(name.value.trim()), { ...asked.options, signal }));
    }),
  );
  stop.addEventListener("click", () => abort?.abort());
  for (const input of [files, folder]) {
    input.addEventListener("change", () => {
      const chosen = [...(input.files ?? [])];
      input.value = ""; // the same files may be chosen again
      if (chosen[0]) void openModel(chosen, titleOf(chosen));
    });
  }
  if (id === "model") takeDrops((dropped) => void dropped.then(({ source, name }) => openModel(source, name), (error: unknown) => showError(form, error)), claims);
  void models.list().then((kept) => {
    for (const one of kept) known.prepend(h("option", { value: one.name }, "in this browser"));
  }, () => undefined);

  return {
    element: form,
    start: async () => {
      if (name.value !== "") await openModel(sourceOf(name.value), name.value);
    },
  };
}

/** An input for files and the button that stands for it. */
function picker(input: HTMLInputElement, label: string): Node[] {
  return [h("label", { class: "button quiet", for: input.id }, label), input];
}

/** The folder's name, else that of the file that counts. */
function titleOf(files: File[]): string {
  const [folder, ...rest] = files[0]?.webkitRelativePath.split("/") ?? [];
  if (folder && rest.length > 0) return folder;
  return (files.find(({ name }) => /\.gguf$/i.test(name)) ?? files[0])?.name ?? "files";
}

/** Puts the panel into the page's element "opener". */
export function mountOpener<T extends Look>(
  begin: (source: Source, options: LookOptions) => Promise<T>,
  opened: (model: T, name: string) => void,
  extras: Extras = {},
): Opener {
  const made = opener(begin, opened, extras);
  byId("opener").replaceChildren(made.element);
  return made;
}
