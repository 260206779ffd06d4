// The first page: the built-in model begins a story at once, and its address replays it.
import type { Engine, Generation, Run } from "tokamak-web";
import { copyButton, byId, h } from "./dom.ts";
import { highlighted } from "./highlight.ts";
import { figure } from "./numbers.ts";
import { placeOf } from "./opening.ts";
import { type Story, linkOf, markOf, reasonOf, storyOf } from "./replay_link.ts";
import { exampleOf, makeRunnable } from "./run_example.ts";
import { showError } from "./shell.ts";
import { joinEngine, startModel } from "./site_model.ts";
import { currentView } from "./view.ts";

const TOKENS = 160;
const PROMPTS = ["Once upon a time", "There was once a king who", "Long ago, by the sea,", "The old lighthouse keeper"];
/** Bars of the strip: the last tokens that came, each as high as the time that it took. */
const BARS = 64;
const BAR_PX = 40;
/** The colours that the style sheet has for kinds. */
const COLOURS = 6;

let engine: Engine | null = null;
let run: Run | null = null;

const main = byId("main");
const text = byId("story-text");
const strip = byId("strip");
const status = byId("story-status");
const headline = byId("headline");
const kernelRow = byId("kernel-row");
const kernelWords = byId("kernel-words");
const stop = h("button", { type: "button", class: "quiet", onclick: () => run?.cancel() }, "Stop");
const another = h("button", { type: "button", class: "quiet", onclick: () => void write(fresh()) }, "Another story");
const link = copyButton(() => location.href, "Copy a link to this story");
const chat = h("a", { class: "button", href: "./chat.html" }, "Chat with it");

/** The kernels of a token in their order, each operation in a colour of its own. */
async function drawKernels(own: Engine): Promise<void> {
  const { phases } = await own.inspect("plan", { form: "json" });
  const steps = (phases.find(({ max_tokens }) => max_tokens === 1) ?? phases.at(-1))?.steps ?? [];
  const ops = [...new Set(steps.map(({ op }) => op))];
  kernelRow.replaceChildren(...steps.map(({ op }) => h("span", { class: `colour${ops.indexOf(op) % COLOURS}`, title: op })));
  kernelWords.replaceChildren(
    `Above, the time of the tokens that came together; below it the ${steps.length} kernels of each, of ${ops.length} kinds. `,
    h("a", { href: "./timeline.html" }, "See them one by one"), ".");
}

const fresh = (): Story => ({
  prompt: PROMPTS[Math.floor(Math.random() * PROMPTS.length)]!,
  seed: crypto.getRandomValues(new Uint32Array(1))[0]!,
});

function bar(ms: number, longest: number): HTMLElement {
  const one = h("span");
  one.style.height = `${Math.max(3, Math.round((BAR_PX * ms) / longest))}px`;
  return one;
}

/** Writes a story, and compares it with the one that its address is of. */
async function write(story: Story): Promise<void> {
  await writeStory(story).catch((error: unknown) => {
    stop.hidden = true;
    another.hidden = link.hidden = false;
    showError(main, error);
  });
}

async function writeStory(story: Story): Promise<void> {
  if (!engine) return;
  run?.cancel();
  const temperature = story.temperature ?? engine.defaults.temperature;
  const own = engine.generate(story.prompt, { maxTokens: story.tokens ?? TOKENS, seed: story.seed, ...(temperature !== undefined && { temperature }) });
  run = own;
  const isOwn = () => run === own;
  text.textContent = story.prompt;
  strip.replaceChildren();
  stop.hidden = false;
  another.hidden = link.hidden = true;
  const times: number[] = [];
  let tokens = 0;
  let last = performance.now();
  let began = last;
  let counted = 0;
  for await (const piece of own) {
    if (!isOwn()) return;
    const now = performance.now();
    text.append(piece.text);
    text.scrollTop = text.scrollHeight;
    if (tokens === 0) began = now; // the time of the prompt is not counted
    tokens += piece.ids.length;
    counted ||= piece.ids.length;
    times.push(now - last);
    last = now;
    const longest = Math.max(...times.slice(-BARS));
    strip.append(bar(times.at(-1)!, longest));
    while (strip.childElementCount > BARS) strip.firstElementChild?.remove();
    if (times.length > 1) headline.replaceChildren(h("strong", {}, `${figure(((tokens - counted) * 1000) / (now - began))} tokens a second`), ` on ${placeOf(engine.adapter)}, and nothing leaves the tab.`);
  }
  if (isOwn()) ended(engine, await own.result, { ...story, ...(temperature !== undefined && { temperature }) });
}

function ended({ model, adapter, store }: Engine, result: Generation, story: Story): void {
  stop.hidden = true;
  another.hidden = link.hidden = false;
  const mark = markOf(result.ids);
  const writer = { model: model.name, device: placeOf(adapter) };
  const differs = () => ` Other tokens than in the link. ${reasonOf(story, { ...writer, tabs: store.getSnapshot().tabs })}`;
  const same = story.mark === undefined ? "" : story.mark === mark ? " The same tokens as in the link, bit for bit." : differs();
  status.textContent = `${result.tokens} tokens, seed ${result.seed}.${same}`;
  if (text.isConnected) history.replaceState(null, "", linkOf({ ...story, ...writer, seed: result.seed, tokens: result.tokens, mark }));
}

// Who saves data is asked before 18 MB are fetched.
const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
const waits = connection?.saveData ?? false;
/** Those who wait for a model. */
const waiting: ((own: Engine) => void)[] = [];
const opened = (): Promise<Engine> => {
  if (engine) return Promise.resolve(engine);
  if (waits) void startModel();
  return new Promise((resolve) => waiting.push(resolve));
};

async function begin(own: Engine): Promise<void> {
  engine = own;
  status.textContent = "";
  if (own.model.embeds || own.model.hears) {
    status.textContent = `${own.model.name} writes no texts; open another model on the page Chat.`;
    return;
  }
  for (const wait of waiting.splice(0)) wait(own);
  void drawKernels(own).catch(() => undefined);
  await write(storyOf(location.hash) ?? fresh());
}

stop.hidden = another.hidden = link.hidden = true;
byId("story-actions").append(chat, stop, another, link);
addEventListener("hashchange", () => {
  const asked = text.isConnected ? storyOf(location.hash) : null;
  if (asked) void write(asked);
});
for (const code of document.querySelectorAll<HTMLElement>("pre > code.language-js")) {
  const source = code.textContent ?? "";
  code.innerHTML = highlighted(source, "js");
  const example = exampleOf(source);
  if (example && code.parentElement) makeRunnable(code.parentElement, opened, example);
}
if (waits) {
  const button = h("button", { type: "button", onclick: () => (button.remove(), void startModel()) }, "Write a story (18 MB)");
  status.textContent = "";
  byId("story-actions").prepend(button);
}
joinEngine({
  waits,
  opened: ({ own }) => void begin(own),
  closed: () => (engine = null),
  progress: (_name, _share, sentence) => (status.textContent = sentence),
  failed: (error) => {
    status.textContent = "";
    showError(main, error);
  },
});
currentView().hidden.add(() => run?.cancel());
