// The line in which every page that runs a model shows it, and the sheet below that line to choose another one.
import { type Check, type Look, type LookOptions, type Source, check } from "tokamak-web";
import { BUILTIN, settings, sourceOf } from "./asked.ts";
import { byId, h } from "./dom.ts";
import { takeDrops } from "./dropped.ts";
import { type Suggested, modelList } from "./model_list.ts";
import { bytes } from "./numbers.ts";
import { placeOf, progressText, verdictText } from "./opening.ts";
import { keepModule, showError } from "./shell.ts";
import { withoutGpu } from "./without_gpu.ts";

const SUGGESTED: Suggested[] = [
  { name: BUILTIN, size: 18e6, bits: 16, about: "a storyteller, answers offline", writes: true },
  { name: "HuggingFaceTB/SmolLM2-135M-Instruct", size: 269e6, bits: 16, about: "quick, small talk", writes: true },
  { name: "Qwen/Qwen3-0.6B", size: 1.5e9, bits: 16, about: "many languages", writes: true },
  { name: "google/gemma-3-270m-it", size: 536e6, bits: 16, about: "needs a token of the hub", writes: true },
];

export interface Opener {
  readonly element: HTMLElement;
  /** The sheet, for a page's own fields. */
  readonly sheet: HTMLElement;
  /** Opens what the page's address names, else what is chosen first. */
  start(): Promise<void>;
  /** Begins again with what is being opened, or is open. */
  again(): Promise<void>;
}

/** The changes of a page to the panel. */
export interface Extras {
  /** Takes files that were dropped, if they are none of a model's. */
  claims?(files: File[]): boolean;
  /** Called where no model is open any more, or the first one could not be opened. */
  closed?(): void;
  /** Takes how far an opening is: the name of the model, a share and a sentence. */
  progress?(name: string, share: number, text: string): void;
  /** Takes why an opening has failed, which the panel shows as well. */
  failed?(error: unknown): void;
  /** Models to choose from in place of those for texts. */
  suggested?: Suggested[];
  /** The first text in place of the built-in model; with "" nothing is opened by itself. */
  initial?: string;
  /** The mark of this panel where a page has several: its parameter of the address, and a title. */
  id?: string;
  title?: string;
  /** Whether the sheet is open from the start on. */
  isOpen?: boolean;
  /** The further options for the model of that name. */
  options?(name: string): LookOptions;
}

interface Chosen {
  source: Source;
  title: string;
}

/**
 * `begin` is `open`, or `look` for pages that run nothing. `opened` gets each model, in place of the one before, which is closed
 * once the next one is there: an opening that fails or is stopped leaves it as it was.
 */
export function opener<T extends Look>(
  begin: (source: Source, options: LookOptions) => Promise<T>,
  opened: (model: T, name: string) => void,
  { claims, closed, progress: told, failed, suggested = SUGGESTED, initial = BUILTIN, options = () => ({}), id = "model", title: shown = "Model", isOpen }: Extras = {},
): Opener {
  let engine: T | null = null;
  /** The model that is or was open. */
  let last: Chosen | null = null;
  /** The one that was chosen last, whatever became of it. */
  let wanted: Chosen | null = null;
  let abort: AbortController | null = null;
  const asked = settings(id);
  /** The ids of a page's only panel are plain. */
  const idOf = (own: string) => (id === "model" ? own : `${id}-${own}`);

  const name = h("input", { id, autocomplete: "off", spellcheck: "false", value: asked.model ?? initial });
  const files = h("input", { type: "file", id: idOf("files"), multiple: true, class: "visually-hidden" });
  const folder = h("input", { type: "file", id: idOf("folder"), webkitdirectory: true, class: "visually-hidden" });
  const status = h("p", { class: "status", role: "status", id: `${id}-status` });
  /** The memory that the model takes, shown before the download begins. */
  const budget = h("p", { class: "status", id: `${id}-budget` });
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": `Opening the ${shown.toLowerCase()}` });
  const openButton = h("button", { type: "submit" }, "Open");
  const checkButton = h("button", { type: "button", class: "quiet" }, "Does it fit?");
  const stop = h("button", { type: "button", class: "quiet", hidden: true }, "Stop");
  const title = h("strong", {}, shortName(asked.model ?? (initial || "none yet")));
  const sheetId = idOf("sheet");
  const chip = h("button", { type: "button", class: "quiet chip", "aria-controls": sheetId, "aria-expanded": "false" }, h("span", {}, `${shown}: `), title, h("span", { "aria-hidden": "true" }, " ▾"));
  const list = modelList(suggested, (chosen) => choose(chosen), (error) => showError(element, error));
  const sheet = h(
    "form",
    { id: sheetId, class: "sheet" },
    list.element,
    h("label", { for: id }, shown),
    h("div", { class: "row" }, name, openButton, checkButton, ...picker(files, "Files …"), ...("webkitdirectory" in folder ? picker(folder, "Folder …") : [])),
    id === "model" && h("p", { class: "hint" }, "A name on Hugging Face, an address, or a .gguf file or a model's folder: chosen, or dropped on this page. Nothing is uploaded."),
    budget,
  );
  const element = h("div", { class: "opener" }, h("div", { class: "row line" }, chip, status, stop), bar, sheet);

  const showSheet = (is: boolean) => {
    sheet.hidden = !is;
    chip.setAttribute("aria-expanded", String(is));
    if (is) void list.refresh(engine?.adapter);
  };
  showSheet(isOpen ?? !(asked.model ?? initial));
  chip.addEventListener("click", () => showSheet(sheet.hidden === true));
  const choose = (chosen: string) => {
    name.value = chosen;
    void openModel({ source: sourceOf(chosen), title: chosen });
  };

  const busy = (is: boolean) => {
    openButton.disabled = checkButton.disabled = is;
    stop.hidden = bar.hidden = !is;
  };
  const withSignal = async (what: (signal: AbortSignal) => Promise<void>) => {
    abort?.abort();
    abort = new AbortController();
    const { signal } = abort;
    element.querySelectorAll(":scope > .error, :scope > .again, :scope > .hint").forEach((one) => one.remove());
    budget.textContent = "";
    busy(true);
    try {
      await what(signal);
    } catch (error) {
      if (abort.signal !== signal) return;
      const stays = engine ? `${engine.model.name} stays open.` : "";
      const isStopped = (error as { code?: string }).code === "cancelled";
      status.textContent = isStopped ? `Stopped. ${stays}` : stays;
      if (!isStopped) showError(element, error);
      failed?.(error);
      if (last) title.textContent = shortName(last.title);
      if (!engine) offerLast(error);
    } finally {
      if (abort.signal === signal) busy(false);
    }
  };
  /** No model is open. The one that was, or the processor in the GPU's place, is a click away. */
  const offerLast = (error: unknown) => {
    closed?.();
    const before = last;
    if (before) element.append(h("p", { class: "again" }, h("button", { type: "button", onclick: () => void openModel(before) }, `Open ${before.title} again`)));
    else element.append(...withoutGpu.failed(error, asked.options));
  };
  const closeLast = async () => {
    await engine?.close();
    if (engine) closed?.();
    engine = null;
  };
  const isWanted = async (found: Check) => {
    budget.textContent = verdictText(found);
    if (found.verdict === "too-large" && !confirm(`${verdictText(found)} The tab may end while it is opened. Open it all the same?`)) return false;
    if (found.verdict !== "fits") await closeLast(); // there is no room for two
    return true;
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
      status.textContent = `${why} The model was opened again, and what was running has gone on.`;
    });
    own.on("lost", (why) => (status.textContent = `The GPU was lost (${why}). It is opened again …`));
    own.on("restored", () => (status.textContent = "The GPU was lost and is there again; what was running has gone on."));
  };

  const openModel = (chosen: Chosen) =>
    withSignal(async (signal) => {
      wanted = chosen;
      title.textContent = shortName(chosen.title);
      const further = options(chosen.title);
      if (bytesOf(chosen.source) > LARGE_BYTES) await closeLast(); // as after a check: there may be no room for two
      const next = await begin(chosen.source, {
        ...asked.options,
        ...further,
        signal,
        // The built-in model is small, and what a visitor chose is here already.
        ...(typeof chosen.source === "string" && { onCheck: isWanted }),
        onProgress: (progress) => {
          bar.value = progress.overall;
          status.textContent = `${progressText(progress)} …`;
          told?.(shortName(chosen.title), progress.overall, status.textContent);
        },
        onNotice: (text) => (status.textContent = text),
        onEvict: ask,
      });
      await engine?.close();
      engine = next;
      last = chosen;
      tellStops(next);
      const { model, adapter } = next;
      status.textContent = `${model.name}: ${model.architecture}, ${model.quantization}, ${bytes(model.memory.total)} on ${placeOf(adapter)}.`;
      element.append(...withoutGpu.opened(adapter, asked.options));
      if (!isOpen) showSheet(false);
      opened(next, chosen.title);
      const isWhole = Boolean(further.memory || model.sees || model.hears || model.speaks);
      keepModule(adapter, isWhole);
    });

  sheet.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = name.value.trim();
    if (wanted !== "") choose(wanted);
  });
  checkButton.addEventListener("click", () =>
    withSignal(async (signal) => {
      status.textContent = "Looking at the model's headers …";
      budget.textContent = verdictText(await check(sourceOf(name.value.trim()), { ...asked.options, signal }));
      status.textContent = "";
    }),
  );
  stop.addEventListener("click", () => abort?.abort());
  for (const input of [files, folder]) {
    input.addEventListener("change", () => {
      const chosen = [...(input.files ?? [])];
      input.value = ""; // the same files may be chosen again
      if (chosen[0]) void openModel({ source: chosen, title: titleOf(chosen) });
    });
  }
  if (id === "model") takeDrops(element, (dropped) => void dropped.then(({ source, name: found }) => openModel({ source, title: found }), (error: unknown) => showError(element, error)), claims);

  const start = async () => {
    if (name.value !== "") await openModel({ source: sourceOf(name.value), title: name.value });
  };
  return { element, sheet, start, again: () => (wanted ? openModel(wanted) : start()) };
}

/** The bytes of files that a visitor has chosen; other sources are checked before they are fetched. */
const bytesOf = (source: Source) => (Array.isArray(source) ? source.reduce((sum, { size }) => sum + size, 0) : 0);
const LARGE_BYTES = 500e6;

/** The last part of an address, and of other names all. */
const shortName = (name: string) => (/^[a-z]+:/.test(name) ? name.split("/").filter(Boolean).at(-1)! : name);

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
