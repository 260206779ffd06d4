// The chat page: conversations with the open model, kept in this browser.
import MarkdownIt from "markdown-it";
import { type Engine, type Message, type Part, type Run, open } from "tokamak-web";
import { attachments, shownImage } from "./attachments.ts";
import { chatMemory } from "./chat_memory.ts";
import { type Conversation, type Turn, all, asMarkdown, create, keep, remove, titleOf } from "./conversations.ts";
import { byId, copyButton, download, h } from "./dom.ts";
import { forgetImages, imageOf, keepImage } from "./kept_images.ts";
import { figure, seconds } from "./numbers.ts";
import { mountOpener, settings as asked } from "./opener.ts";
import { sampling } from "./sampling.ts";
import { showError, startPage } from "./shell.ts";

const DEFAULT_TOKENS = 512;
/** Between two times that Markdown is laid out while an answer streams, in milliseconds. */
const REDRAW_MS = 50;

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true });
const settings = sampling();
const attached = attachments();
const memory = chatMemory(asked().options, (error) => showError(byId("chat"), error));
let engine: Engine | null = null;
let run: Run | null = null;
let current: Conversation = create();

const list = h("ul", { class: "conversations" });
const log = h("div", { class: "log", role: "region", "aria-label": "Conversation" });
/** Whole sentences of the answer, for those who hear the page. */
const spoken = h("p", { class: "visually-hidden", "aria-live": "polite" });
const input = h("textarea", { id: "message", rows: 3, placeholder: "Opening the model …", disabled: true });
const send = h("button", { type: "submit", disabled: true }, "Send");
const stop = h("button", { type: "button", class: "quiet", hidden: true }, "Stop");
const speed = h("p", { class: "status", role: "status" });

function drawn(turn: Turn): HTMLElement {
  const text = h("div", { class: "text" });
  if (turn.role === "user") text.textContent = turn.content;
  else text.innerHTML = markdown.render(turn.content);
  return text;
}

function imagesElement(ids: string[]): HTMLElement {
  const row = h("div", { class: "attached" });
  for (const id of ids) {
    const place = h("span", {}, "An image …");
    row.append(place);
    void imageOf(id).then((image) => place.replaceWith(image ? shownImage(image, "An image of the message") : "An image that is no longer kept."));
  }
  return row;
}

/** The element with what was added to the prompt, and the sources of that. */
function memoryElement({ sources, context }: NonNullable<Turn["memory"]>): HTMLElement {
  return h("details", { class: "recalled" }, h("summary", {}, `From memory: ${sources.join(", ")}`), h("pre", { class: "wrapped" }, context));
}

function turnElement(turn: Turn, index: number): HTMLElement {
  const actions = h("div", { class: "row actions" }, copyButton(() => turn.content));
  const action = (label: string, what: () => void) => {
    const button = h("button", { type: "button", class: "quiet" }, label);
    button.addEventListener("click", what);
    actions.append(button);
  };
  if (turn.role === "user") action("Edit", () => edit(index));
  else if (index === current.turns.length - 1) action("Regenerate", () => void regenerate(index));
  return h("article", { class: `turn ${turn.role}` }, h("h2", {}, turn.role === "user" ? "You" : "Model"), turn.memory && memoryElement(turn.memory), turn.images && imagesElement(turn.images), drawn(turn), actions);
}

function drawLog(): void {
  log.replaceChildren(...current.turns.map(turnElement));
}

function drawList(): void {
  const entry = (one: Conversation) => {
    const choose = h("button", { type: "button", class: "quiet", "aria-current": one.id === current.id && "true" }, titleOf(one));
    choose.addEventListener("click", () => show(one));
    const bin = h("button", { type: "button", class: "quiet", "aria-label": `Delete “${titleOf(one)}”` }, "×");
    bin.addEventListener("click", () => {
      remove(one);
      if (one.id === current.id) show(create());
      else drawList();
    });
    return h("li", {}, choose, bin);
  };
  list.replaceChildren(...all().map(entry));
}

function show(conversation: Conversation): void {
  run?.cancel();
  current = conversation;
  speed.textContent = "";
  drawLog();
  drawList();
}

function edit(index: number): void {
  run?.cancel();
  const dropped = current.turns.slice(index);
  input.value = dropped[0]?.content ?? "";
  void editImages(dropped);
  current.turns = current.turns.slice(0, index);
  drawLog();
  input.focus();
}

/** Those of the first turn go with the next message, and none of these turns keeps any. */
async function editImages(turns: Turn[]): Promise<void> {
  const images = await Promise.all((turns[0]?.images ?? []).map(imageOf));
  attached.restore(images.filter((image) => image !== undefined));
  await forgetImages(turns.flatMap((turn) => turn.images ?? []));
}

async function regenerate(index: number): Promise<void> {
  current.turns = current.turns.slice(0, index);
  drawLog();
  await answer();
}

/** The images, then the text, as models were trained on; a model that does not see gets the text alone. */
async function messageOf({ role, content, images = [] }: Turn, sees: boolean): Promise<Message> {
  const files = sees ? (await Promise.all(images.map(imageOf))).filter((image) => image !== undefined) : [];
  if (files.length === 0) return { role, content };
  const parts: Part[] = files.map((image) => ({ type: "image", image }));
  return { role, content: [...parts, { type: "text", text: content }] };
}

/** The turns, with what the memory knows before the last one; the answer says so. */
async function withMemory(own: Engine, turns: Turn[], answer: Turn): Promise<Turn[]> {
  const last = turns.at(-1);
  const found = last && (await memory.recall(last.content, own));
  if (!last || !found) return turns;
  answer.memory = { context: found.context, sources: [...new Set(found.records.map(({ source, title }) => source || title))] };
  return [...turns.slice(0, -1), { ...last, content: `${found.context}\n${last.content}` }];
}

/** Begins what the model continues: a chat, or for a model without a template the text so far. */
async function begin(own: Engine, turns: Turn[]): Promise<Run> {
  const options = { maxTokens: DEFAULT_TOKENS, ...settings.values() };
  if (own.model.hasTemplate) {
    return own.chat(await Promise.all(turns.map((turn) => messageOf(turn, own.model.sees))), options);
  }
  return own.generate(turns.map(({ content }) => content).join("\n"), options);
}

async function answer(): Promise<void> {
  if (!engine || engine.model.embeds || engine.model.hears) return;
  const conversation = current;
  const turn: Turn = { role: "assistant", content: "" };
  conversation.turns.push(turn);
  drawLog();
  const text = log.lastElementChild?.querySelector(".text") as HTMLElement;
  const started = performance.now();
  let first = 0;
  let tokens = 0;
  let drawnAt = 0;
  let said = 0;
  busy(true);
  try {
    const own = await begin(engine, await withMemory(engine, conversation.turns.slice(0, -1), turn));
    run = own;
    for await (const piece of own) {
      first ||= performance.now();
      tokens += piece.ids.length;
      turn.content += piece.text;
      const now = performance.now();
      if (now - drawnAt > REDRAW_MS) {
        drawnAt = now;
        text.innerHTML = markdown.render(turn.content);
        speed.textContent = `${figure(tokens / Math.max(1e-3, (now - first) / 1000))} tokens/s`;
      }
      const end = turn.content.lastIndexOf(". ") + 1;
      if (end > said) {
        spoken.textContent = turn.content.slice(said, end);
        said = end;
      }
    }
    const result = await own.result;
    const rate = result.decodeSeconds > 0 ? `, ${figure((result.tokens - 1) / result.decodeSeconds)} tokens/s` : "";
    const reused = result.cachedTokens > 0 ? `, ${result.cachedTokens} of them kept from before` : "";
    speed.textContent =
      `${result.tokens} tokens${rate}; first after ${seconds((first - started) / 1000)}; ` +
      `prompt of ${result.promptTokens} tokens${reused}. ${{ end: "", stop: "", length: "The answer was cut at its longest.", context: "The context is full.", cancelled: "Stopped.", grammar: "" }[result.finish]}`;
    spoken.textContent = turn.content.slice(said);
  } catch (error) {
    if (turn.content === "") conversation.turns.pop();
    showError(byId("chat"), error);
  } finally {
    run = null;
    busy(false);
    conversation.changed = Date.now();
    if (!keep(conversation)) showError(byId("chat"), new Error("This browser keeps no more conversations; this one ends with the tab."));
    if (conversation === current) drawLog();
    drawList();
  }
}

function busy(is: boolean): void {
  send.disabled = is || !engine;
  stop.hidden = !is;
}

function page(): HTMLElement {
  const form = h("form", { class: "compose" }, attached.list, h("label", { for: "message", class: "visually-hidden" }, "Message"), input, h("div", { class: "row" }, send, stop, attached.button, speed));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const content = input.value.trim();
    if (content === "" || send.disabled) return;
    byId("chat").querySelector(":scope > .error")?.remove();
    const turn: Turn = { role: "user", content };
    current.turns.push(turn);
    input.value = "";
    send.disabled = true;
    const images = await Promise.all(attached.take().map(keepImage));
    if (images.length > 0) turn.images = images;
    void answer();
  });
  input.addEventListener("paste", (event) => {
    if (attached.add([...(event.clipboardData?.files ?? [])])) event.preventDefault();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  stop.addEventListener("click", () => run?.cancel());
  const fresh = h("button", { type: "button" }, "New conversation");
  fresh.addEventListener("click", () => {
    show(create());
    input.focus();
  });
  const exported = h("button", { type: "button", class: "quiet" }, "Export");
  exported.addEventListener("click", () => download("conversation.md", asMarkdown(current), "text/markdown"));
  const side = h("aside", { "aria-label": "Conversations" }, h("div", { class: "row" }, fresh, exported), list, memory.element, settings.element);
  return h("div", { class: "chat" }, side, h("div", { class: "talk" }, log, spoken, form));
}

startPage("index");
byId("chat").append(page());
show(all()[0] ?? create());
void mountOpener(open, (opened) => {
  engine = opened;
  settings.recommend(opened.defaults);
  const { embeds, hears, sees } = opened.model;
  const able = !embeds && !hears;
  attached.allow(sees);
  input.disabled = !able;
  input.placeholder = able
    ? "Say something; Enter sends, Shift and Enter begins a new line."
    : hears ? "This model writes down what it hears: see Listen." : "This model makes vectors, not texts.";
  busy(false);
  if (able) input.focus();
}, { claims: attached.add }).start();
