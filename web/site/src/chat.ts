// The chat page: conversations with the open model, kept in this browser.
import type { Engine, Run } from "tokamak-web";
import { type AnswerView, answerView } from "./answer_view.ts";
import { BUILTIN, settings as asked } from "./asked.ts";
import { resultText } from "./answer_result.ts";
import { attachments } from "./attachments.ts";
import { chatMemory } from "./chat_memory.ts";
import { chatTools, runWithTools } from "./chat_tools.ts";
import { conversationList } from "./conversation_list.ts";
import { type Conversation, type Turn, all, asMarkdown, create, keep, onChange, openCalls, read } from "./conversations.ts";
import { byId, download, h } from "./dom.ts";
import { follower } from "./follow.ts";
import { forget, keep as keepText, kept } from "./kept.ts";
import { forgetImages, imageOf, keepImage } from "./kept_images.ts";
import { figure } from "./numbers.ts";
import { begin } from "./prompts.ts";
import { marked } from "./reasoning.ts";
import { sampling } from "./sampling.ts";
import { showError } from "./shell.ts";
import { joinEngine, type Model } from "./site_model.ts";
import { ALTERNATIVES, type Recording, type TokenOfAnswer, recording, tokenView, tokensOf } from "./token_view.ts";
import { type TurnActions, turnElements, welcome } from "./turns.ts";

const DEFAULT_TOKENS = 512;
/** Between two times that Markdown is laid out while an answer streams, and that the answer is kept, in milliseconds. */
const [REDRAW_MS, KEEP_MS] = [50, 1000];
const DRAFT = "tokamak.draft";

const place = byId("chat");
const settings = sampling();
const attached = attachments();
const tools = chatTools();
const memory = chatMemory(asked().options, (error) => showError(place, error));
let engine: Engine | null = null;
/** The conversation and the run of the running answer. */
let writing: { conversation: Conversation; run: Run | null } | null = null;
let isStoryteller = (asked().model ?? BUILTIN) === BUILTIN;
/** A question was sent before the model was open. */
let isWaiting = false;
let current: Conversation = create();
/** The tokens of answers that were written with their probabilities, and the text before them. */
const tokensOfTurns = new WeakMap<Turn, { before: string; tokens: TokenOfAnswer[]; depth: number }>();

const log = h("div", { class: "log", role: "region", "aria-label": "Conversation" });
/** Whole sentences of the answer, for those who hear the page. */
const spoken = h("p", { class: "visually-hidden", "aria-live": "polite" });
const input = h("textarea", { id: "message", rows: 3, placeholder: "The model is opened; type meanwhile." });
const send = h("button", { type: "submit" }, "Send");
const stop = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => writing?.run?.cancel() }, "Stop");
const speed = h("p", { class: "status", role: "status" });
const form = h("form", { class: "compose" });
const follow = follower(log, form);
const list = conversationList(show, (gone) => (gone.id === current.id ? show(create()) : list.draw(current)));

const actions: TurnActions = {
  edit,
  regenerate: (index) => {
    current.turns = current.turns.slice(0, index);
    drawLog();
    void answer();
  },
  goOn: () => void answer(current.turns.at(-1)),
  answerCall: (call, content) => {
    current.turns.push({ role: "tool", content, call: call.id });
    keepIt(current);
    drawLog();
    if (openCalls(current).length === 0) answerSoon();
  },
};

function drawLog(): void {
  const { turns } = current;
  if (turns.length === 0) log.replaceChildren(welcome(ask, isStoryteller));
  else log.replaceChildren(...turnElements(turns, actions));
  showTokens();
}

/** Shows the last answer by its tokens, where they are known and wanted. */
function showTokens(): void {
  const turn = current.turns.at(-1);
  const known = turn && settings.wantsTokens() && !writing && tokensOfTurns.get(turn);
  if (!turn || !known || !engine) return;
  const goOn = (before: string, text: string) => {
    turn.content = known.before + before + text;
    void answer(turn);
  };
  log.lastElementChild?.querySelector(".answer")?.replaceChildren(known.before, tokenView(engine, known.tokens, known.depth, goOn));
}

function show(conversation: Conversation): void {
  writing?.run?.cancel();
  current = read(conversation.id) ?? conversation;
  speed.textContent = "";
  drawLog();
  list.draw(current);
}

/** Another tab has changed it: what is shown follows, unless this tab writes in it just now. */
function changedElsewhere(id: string): void {
  if (id === current.id && writing?.conversation !== current) {
    const found = read(id);
    if (found) current = found;
    drawLog();
  }
  list.draw(current);
}

function keepIt(conversation: Conversation): void {
  conversation.changed = Date.now();
  if (!keep(conversation)) showError(place, new Error("This browser keeps no more conversations; this one ends with the tab."));
}

function edit(index: number): void {
  writing?.run?.cancel();
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

/** The turns, with what the memory knows before the last one; the answer says so. */
async function withMemory(own: Engine, turns: Turn[], answer: Turn): Promise<Turn[]> {
  const last = turns.at(-1);
  const found = last && (await memory.recall(last.content, own));
  if (!last || !found) return turns;
  answer.memory = { context: found.context, sources: [...new Set(found.records.map(({ source, title }) => source || title))] };
  return [...turns.slice(0, -1), { ...last, content: `${found.context}\n${last.content}` }];
}

/** Has the model answer the last question, or go on with `cut`, an answer that was not finished. */
async function answer(cut?: Turn): Promise<void> {
  if (!engine || engine.model.embeds || engine.model.hears || writing) return;
  const conversation = current;
  const turn: Turn = Object.assign(cut ?? { role: "assistant" as const, content: "" }, { unfinished: true });
  if (!cut) conversation.turns.push(turn);
  const own = engine;
  writing = { conversation, run: null };
  keepIt(conversation);
  list.draw(current);
  drawLog();
  const view = answerView();
  log.lastElementChild?.querySelector(".answer")?.replaceChildren(view.element);
  follow.toEnd();
  busy();
  try {
    const turns = cut && turn.content !== "" ? conversation.turns : await withMemory(own, conversation.turns.slice(0, -1), turn);
    const offered = cut || !own.model.hasTemplate ? [] : tools.offered();
    const wantsTokens = settings.wantsTokens() && offered.length === 0;
    const before = turn.content;
    const values = { maxTokens: DEFAULT_TOKENS, ...settings.values() };
    writing.run = offered.length > 0
      ? await runWithTools(own, turns, { ...values, tools: offered }, turn)
      : await begin(own, turns, { ...values, ...(wantsTokens && { logprobs: ALTERNATIVES }) });
    const recorded = await stream(writing.run, turn, conversation, view);
    if (wantsTokens) tokensOfTurns.set(turn, { before, tokens: await tokensOf(own, recorded), depth: recorded.depth });
  } catch (error) {
    if (turn.content === "" && !turn.calls) conversation.turns = conversation.turns.filter((one) => one !== turn);
    showError(place, error);
  } finally {
    writing = null;
    busy();
    keepIt(conversation);
    if (conversation === current) drawLog();
    list.draw(current);
    follow.grown();
  }
}

async function stream(run: Run, turn: Turn, conversation: Conversation, view: AnswerView): Promise<Recording> {
  const [recorded, withMarks] = [recording(), marked(turn.content)];
  const started = performance.now();
  let first = 0, tokens = 0, drawnAt = 0, keptAt = started, said = turn.content.length;
  for await (const piece of run) {
    const now = performance.now();
    first ||= now;
    tokens += piece.ids.length;
    recorded.add(piece);
    turn.content += withMarks(piece);
    if (now - drawnAt > REDRAW_MS) {
      drawnAt = now;
      view.show(turn.content);
      follow.grown();
      speed.textContent = `${figure(tokens / Math.max(1e-3, (now - first) / 1000))} tokens/s`;
    }
    if (now - keptAt > KEEP_MS) {
      keptAt = now;
      keepIt(conversation);
    }
    const end = turn.content.lastIndexOf(". ") + 1;
    if (end > said) {
      spoken.textContent = turn.content.slice(said, end);
      said = end;
    }
  }
  const result = await run.result;
  if (result.finish !== "cancelled" && result.finish !== "length") delete turn.unfinished;
  speed.replaceChildren(resultText(result, (first - started) / 1000), " ", h("a", { href: "./timeline.html" }, "Where the time goes"));
  spoken.textContent = turn.content.slice(said);
  return { ...recorded, ids: result.ids, depth: result.promptTokens };
}

function busy(): void {
  send.disabled = writing !== null || isWaiting;
  stop.hidden = writing === null;
}

/** Sends a question; before the model is open it waits for it. */
async function ask(content: string): Promise<void> {
  if (content === "" || writing || isWaiting) return;
  place.querySelector(":scope > .error")?.remove();
  const turn: Turn = { role: "user", content };
  current.turns.push(turn);
  input.value = "";
  forget(DRAFT, "session");
  isWaiting = true;
  busy();
  const images = await Promise.all(attached.take().map(keepImage));
  if (images.length > 0) turn.images = images;
  keepIt(current);
  drawLog();
  list.draw(current);
  follow.toEnd();
  answerSoon();
}

/** Has the model answer, once there is one. */
function answerSoon(): void {
  isWaiting = engine === null;
  busy();
  if (isWaiting) speed.textContent = "Sent once the model is open.";
  else void answer();
}

function composed(): HTMLElement {
  form.append(follow.button, attached.list, h("label", { for: "message", class: "visually-hidden" }, "Message"), input, h("div", { class: "row" }, send, stop, attached.button, speed));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void ask(input.value.trim());
  });
  input.value = kept(DRAFT, "session") ?? "";
  input.addEventListener("input", () => keepText(DRAFT, input.value, "session"));
  input.addEventListener("paste", (event) => {
    if (attached.add([...(event.clipboardData?.files ?? [])])) event.preventDefault();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  addEventListener("keydown", ({ key }) => key === "Escape" && form.isConnected && writing?.run?.cancel());
  addEventListener("pagehide", () => writing && keepIt(writing.conversation));
  return form;
}

function page(): HTMLElement {
  const fresh = h("button", { type: "button" }, "New conversation");
  fresh.addEventListener("click", () => {
    show(create());
    input.focus();
  });
  const exported = h("button", { type: "button", class: "quiet", onclick: () => download("conversation.md", asMarkdown(current), "text/markdown") }, "Export");
  const side = h("aside", { "aria-label": "Conversations" }, h("div", { class: "row" }, fresh, exported), list.element, memory.element, tools.element, settings.element);
  return h("div", { class: "chat" }, h("div", { class: "talk" }, log, spoken, composed()), side);
}

function opened({ own, name }: Model<Engine>): void {
  engine = own;
  isStoryteller = name === BUILTIN;
  settings.recommend(own.defaults);
  const { embeds, hears, sees } = own.model;
  const able = !embeds && !hears;
  attached.allow(sees);
  input.disabled = !able;
  input.placeholder = able
    ? "Say something; Enter sends, Shift and Enter begins a new line."
    : hears ? "This model writes down what it hears: see Listen." : "This model makes vectors, not texts.";
  if (current.turns.length === 0) drawLog();
  if (able && isWaiting) answerSoon();
  if (able && form.isConnected && matchMedia("(pointer: fine)").matches) input.focus({ preventScroll: true });
}

/** There is no model: what was typed stays, and waits for the next one. */
function closed(): void {
  engine = null;
  input.placeholder = "No model is open; choose one above.";
}

place.append(page());
show(all()[0] ?? create());
onChange(changedElsewhere);
joinEngine({ place: byId("opener"), opened, isEager: true, claims: attached.add, closed });
