// The page of the memory: notes and files that are kept in this browser, found again by a question, listed and forgotten.
import { type Engine, open } from "tokamak-web";
import type { DocumentMemory, Hit, MemoryDocument } from "tokamak-web/memory";
import { byId, copyButton, downloadFile, h } from "./dom.ts";
import { bytes } from "./numbers.ts";
import { BUILTIN } from "./asked.ts";
import { mountOpener } from "./opener.ts";
import { memoryModel, rememberModel, withMemory } from "./remembering.ts";
import { showError } from "./shell.ts";

const SUGGESTED = [
  { name: BUILTIN, size: 18e6, bits: 16, about: "a storyteller, knows words of stories, works offline" },
  { name: "sentence-transformers/all-MiniLM-L6-v2", size: 91e6, bits: 32, about: "English, quick" },
  { name: "Qwen/Qwen3-Embedding-0.6B", size: 1.2e9, bits: 16, about: "many languages" },
  { name: "google/embeddinggemma-300m", size: 1.2e9, bits: 32, about: "many languages, needs a token of the hub" },
];
const TEXT_FILE = /\.(md|markdown|txt)$/i;
const HITS = 8;

const place = byId("memory");
let memory: DocumentMemory | null = null;
let abort: AbortController | null = null;

const note = h("textarea", { id: "note", rows: 3, placeholder: "The spare key lies under the third pot." });
const source = h("input", { id: "source", placeholder: "shed", autocomplete: "off", spellcheck: "false" });
const add = h("button", { type: "submit" }, "Add");
const files = h("input", { type: "file", id: "texts", accept: ".md,.markdown,.txt,text/*", multiple: true, class: "visually-hidden" });
const question = h("input", { type: "search", id: "question", placeholder: "where is the key", autocomplete: "off" });
const search = h("button", { type: "submit" }, "Search");
const results = h("ol", { class: "hits", "aria-label": "What was found" });
const context = h("pre", { class: "wrapped", tabindex: 0, role: "region", "aria-label": "For a prompt" });
const prompt = h("details", { hidden: true }, h("summary", {}, "For a prompt"));
const documents = h("ul", { class: "documents" });
const vectors = h("p", { class: "hint" });
const status = h("p", { class: "status", role: "status" }, "Open an embedding model.");
const stop = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => abort?.abort() }, "Stop");
const quiet = (label: string, run: () => unknown) => h("button", { type: "button", class: "quiet", onclick: () => void run() }, label);
const exportButton = quiet("Export", save);
const rebuildButton = quiet("Rebuild", rebuild);
const forgetButton = quiet("Forget all", () => forget({ all: true }, "everything"));
const backup = h("input", { type: "file", id: "backup", accept: ".jsonl", class: "visually-hidden" });

function refresh(): void {
  const isOff = memory === null || abort !== null;
  for (const one of [add, files, search, exportButton, rebuildButton, forgetButton, backup]) one.disabled = isOff;
  for (const one of documents.querySelectorAll("button")) one.disabled = isOff;
  stop.hidden = abort === null;
}

/** Runs one thing at a time, and says how it ended. */
async function run(doing: string, what: (own: DocumentMemory, signal: AbortSignal) => Promise<string>): Promise<void> {
  if (!memory || abort) return;
  abort = new AbortController();
  place.querySelector(":scope > .error")?.remove();
  status.textContent = `${doing} …`;
  refresh();
  try {
    status.textContent = await what(memory, abort.signal);
  } catch (error) {
    const isStopped = (error as { code?: string }).code === "cancelled";
    status.textContent = isStopped ? "Stopped." : "";
    if (!isStopped) showError(place, error);
  } finally {
    abort = null;
    refresh();
  }
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
const nameOf = ({ source: from, title }: { source: string; title: string }) => from || title;

async function list(own: DocumentMemory): Promise<void> {
  const { documents: all, model } = await own.list();
  const row = (one: MemoryDocument) => {
    const facts = [one.source !== "" && one.title, counted(one.chunks, "chunk"), bytes(one.bytes), new Date(1000 * one.added).toLocaleDateString()];
    return h(
      "li",
      {},
      h("span", {}, nameOf(one), h("span", { class: "faint" }, facts.filter((fact) => fact !== false && fact !== "").join(" · "))),
      h("button", { type: "button", class: "quiet", "aria-label": `Forget ${nameOf(one)}`, onclick: () => void forget({ ids: [one.id] }, nameOf(one)) }, "Forget"),
    );
  };
  documents.replaceChildren(...all.map(row));
  vectors.textContent = all.length === 0 ? "Nothing is kept yet." : `${counted(all.length, "document")}; ${model ?? ""} has made their vectors.`;
}

function addAll(texts: { text: string | File; source: string }[]): Promise<void> {
  return run("Adding", async (own, signal) => {
    const told: string[] = [];
    for (const { text, source: from } of texts) {
      const name = from || (typeof text === "string" ? "the note" : text.name);
      const onProgress = ({ done, total }: { done: number; total: number }) => (status.textContent = `Adding ${name}: ${done} of ${total} …`);
      const { status: kind, chunks, redacted } = await own.add(text, { ...(from !== "" && { source: from }), signal, onProgress });
      const secrets = Object.values(redacted).reduce((sum, count) => sum + count, 0);
      const parts = kind === "unchanged" ? "is there already" : `${kind === "new" ? "added" : "replaced"}, ${counted(chunks, "chunk")}`;
      told.push(`${name}: ${parts}${secrets > 0 ? `, ${counted(secrets, "secret")} left out` : ""}.`);
    }
    note.value = source.value = "";
    await list(own);
    return told.join(" ");
  });
}

const hit = ({ score, text, ...from }: Hit) =>
  h("li", { class: "turn" }, h("h2", {}, nameOf(from), h("span", { class: "faint mono" }, ` ${score.toFixed(4)}`)), h("p", { class: "passage" }, text.trim()));

function find(): Promise<void> {
  const asked = question.value.trim();
  if (asked === "") return Promise.resolve();
  return run("Searching", async (own, signal) => {
    results.replaceChildren();
    prompt.hidden = true;
    const began = performance.now();
    const hits = await own.search(asked, { limit: HITS, signal });
    const took = performance.now() - began;
    results.replaceChildren(...hits.map(hit));
    if (hits.length === 0) return "Nothing was found.";
    const recalled = await own.recall(asked, { signal });
    context.textContent = recalled.context;
    prompt.hidden = false;
    return `${counted(hits.length, "passage")} in ${Math.round(took)} ms; for a prompt, ${counted(recalled.tokens, "token")}.`;
  });
}

async function forget(which: Parameters<DocumentMemory["forget"]>[0], what: string): Promise<void> {
  if (!confirm(`Forget ${what}? No byte of it stays in this browser.`)) return;
  await run("Forgetting", async (own) => {
    const count = await own.forget(which);
    results.replaceChildren();
    prompt.hidden = true;
    await list(own);
    return `Forgot ${counted(count, "document")}.`;
  });
}

function save(): Promise<void> {
  return run("Exporting", async (own) => {
    const file = await own.export();
    downloadFile("memory.jsonl", file);
    return `memory.jsonl has ${bytes(file.size)}; \`tokamak memory import\` reads it as well.`;
  });
}

function load(file: File): Promise<void> {
  return run("Importing", async (own) => {
    const { added, known } = await own.import(file);
    await list(own);
    return `${counted(added, "document")} imported, ${known} already there.`;
  });
}

function rebuild(): Promise<void> {
  return run("Rebuilding", async (own, signal) => {
    const onProgress = ({ done, total }: { done: number; total: number }) => (status.textContent = `Rebuilding: ${done} of ${counted(total, "document")} …`);
    await own.rebuild({ signal, onProgress });
    await list(own);
    return "All vectors were made again by this model.";
  });
}

function page(): HTMLElement[] {
  const chosen = (input: HTMLInputElement, use: (given: File[]) => void) =>
    input.addEventListener("change", () => {
      const given = [...(input.files ?? [])];
      input.value = ""; // the same files may be chosen again
      if (given.length > 0) use(given);
    });
  chosen(files, (given) => void addAll(given.map((text) => ({ text, source: "" }))));
  chosen(backup, ([file]) => void (file && load(file)));
  prompt.append(context, h("div", { class: "row" }, copyButton(() => context.textContent ?? "")));
  const onSubmit = (use: () => unknown) => (event: Event) => {
    event.preventDefault();
    void use();
  };
  const addNote = () => (note.value.trim() === "" ? undefined : addAll([{ text: note.value, source: source.value.trim() }]));
  return [
    h("div", { class: "row" }, status, stop),
    h(
      "form",
      { class: "panel", "aria-label": "Add", onsubmit: onSubmit(addNote) as EventListener },
      h("label", { for: "note" }, "A note"),
      note,
      h("div", { class: "row" }, h("label", { for: "source" }, "Source"), source, add, h("label", { class: "button quiet", for: "texts" }, "Text files …"), files),
      h("p", { class: "hint" }, "Text files may be dropped on this page. Keys, passwords, addresses of e-mail and card numbers are left out."),
    ),
    h(
      "form",
      { role: "search", onsubmit: onSubmit(find) as EventListener },
      h("label", { for: "question" }, "Question"),
      h("div", { class: "row" }, question, search),
    ),
    results,
    prompt,
    h("h2", {}, "Documents"),
    vectors,
    documents,
    h("div", { class: "row" }, exportButton, h("label", { class: "button quiet", for: "backup" }, "Import …"), backup, rebuildButton, forgetButton),
  ];
}

place.append(...page());
refresh();
void mountOpener(
  open,
  (opened: Engine, name) => {
    memory = opened.model.embeds ? opened.memory() : null;
    if (!memory) {
      status.textContent = "This model gives no vectors; open an embedding model.";
      refresh();
      return;
    }
    rememberModel(name);
    void run("Reading", async (own) => {
      await list(own);
      return "Add a note, or ask.";
    });
  },
  {
    suggested: SUGGESTED,
    initial: memoryModel(),
    options: withMemory,
    claims: (dropped) => {
      if (!memory || abort || dropped.length === 0 || !dropped.every(({ name, type }) => TEXT_FILE.test(name) || type.startsWith("text/"))) return false;
      void addAll(dropped.map((text) => ({ text, source: "" })));
      return true;
    },
  },
).start();
