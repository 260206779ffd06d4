// The page for conversations by voice: a model that hears, one that answers and one that speaks.
import { type Engine, type Talk, type TalkEvent, type TalkPhase, type Turn, open, talk } from "tokamak-web";
import { codecField, codecInput } from "./codec.ts";
import { byId, copyButton, h } from "./dom.ts";
import { LISTENERS } from "./listeners.ts";
import { type Microphone, openMicrophone } from "./microphone.ts";
import { seconds } from "./numbers.ts";
import { type Extras, opener } from "./opener.ts";
import { Player } from "./player.ts";
import { showError, startPage } from "./shell.ts";

const PHASES: Record<TalkPhase, string> = {
  listening: "Listening",
  hearing: "You speak",
  transcribing: "Writing down what you said",
  thinking: "Thinking",
  speaking: "Speaking",
};
/** Decibels below full scale at which the meter begins. */
const QUIET = -60;

const engines: { listener?: Engine; answerer?: Engine; speaker?: Engine } = {};
let under: { conversation: Talk; player: Player; microphone?: Microphone } | null = null;
/** The answer that is being said, in the list. */
let current: { said: HTMLElement; entry: HTMLElement } | null = null;

const codec = codecInput();
const begin = h("button", { type: "button", class: "large", disabled: true }, "Start");
const stop = h("button", { type: "button", class: "quiet", hidden: true }, "Stop the answer");
const phase = h("p", { class: "phase", role: "status" }, "Open the three models.");
const meter = h("meter", { min: 0, max: 1, value: 0, "aria-label": "How loud the microphone is", hidden: true });
const figures = h("p", { class: "status" });
const interrupts = h("input", { type: "checkbox", id: "interrupts", checked: true });
const language = h("input", { id: "language", class: "short", maxlength: 3, placeholder: "auto", autocomplete: "off", spellcheck: "false" });
const system = h("textarea", { id: "system", rows: 2, placeholder: "You are heard, not read: answer in a few plain sentences." });
const typed = h("input", { id: "typed", autocomplete: "off", disabled: true, placeholder: "Or type what you want to say" });
const send = h("button", { type: "submit", class: "quiet", disabled: true }, "Send");
const turns = h("ol", { class: "turns", "aria-label": "What was said" });
const chosen = h("span", { class: "faint" });
const models = h("details", { class: "models", open: true }, h("summary", {}, "Models ", chosen));
const actions = h("div", { class: "row", hidden: true }, copyButton(() => turns.innerText, "Copy what was said"));

/** Why the models that are open cannot talk, or what is missing. */
function missing(): string | null {
  const { listener, answerer, speaker } = engines;
  if (!listener || !answerer || !speaker) return "Open the three models.";
  if (!listener.model.hears) return `${listener.model.name} does not hear; open another model that hears.`;
  if (!answerer.model.hasTemplate) return `${answerer.model.name} has no chat template; open another model that answers.`;
  if (!speaker.model.speaks) return `${speaker.model.name} does not speak; open another model that speaks.`;
  return speaker.soundRate ? null : "Name the codec of the model that speaks, and open it again.";
}

function refresh(): void {
  const why = missing();
  begin.disabled = typed.disabled = send.disabled = why !== null;
  begin.textContent = under ? "End" : "Start";
  meter.hidden = !under?.microphone;
  interrupts.disabled = language.disabled = system.disabled = under !== null;
  chosen.textContent = Object.values(engines).map(({ model }) => model.name).join(", ");
  actions.hidden = turns.childElementCount === 0;
  if (!under) phase.textContent = why ?? "Start, and speak; or type.";
}

function opened(role: keyof typeof engines): (engine: Engine) => void {
  return (engine) => {
    void end();
    engines[role] = engine;
    if (missing() === null) models.open = false;
    refresh();
  };
}

/** From silence, 0, to full scale. */
function loudness(samples: Float32Array): number {
  const power = samples.reduce((sum, one) => sum + one * one, 0) / samples.length;
  return Math.max(0, 1 - (10 * Math.log10(power + 1e-12)) / QUIET);
}

async function start(hasMicrophone: boolean): Promise<void> {
  const { listener, answerer, speaker } = engines;
  if (!listener || !answerer || !speaker || missing() !== null) return;
  byId("talk").querySelector(":scope > .error")?.remove();
  begin.disabled = true;
  const player = new Player();
  let conversation: Talk | null = null;
  try {
    const microphone = hasMicrophone ? await openMicrophone((samples, rate) => {
      meter.value = loudness(samples);
      conversation?.listen(samples, rate);
    }) : undefined;
    const spoken = language.value.trim();
    const own = { player, ...(microphone && { microphone }) };
    try {
      conversation = await talk({
        listener,
        answerer,
        speaker,
        loudspeaker: player,
        mayInterrupt: interrupts.checked,
        ...(system.value.trim() !== "" && { system: system.value.trim() }),
        ...(spoken !== "" && { hearing: { language: spoken } }),
      });
    } catch (error) {
      await microphone?.close();
      throw error;
    }
    under = { ...own, conversation };
    void follow(conversation);
  } catch (error) {
    await player.close();
    showError(byId("talk"), error);
  }
  refresh();
}

async function follow(conversation: Talk): Promise<void> {
  try {
    for await (const event of conversation) show(event);
  } catch (error) {
    showError(byId("talk"), error);
  }
  if (under?.conversation === conversation) await end();
}

async function end(): Promise<void> {
  const own = under;
  if (!own) return;
  under = null;
  own.conversation.close();
  endTurn(undefined);
  stop.hidden = true;
  refresh();
  await own.microphone?.close();
  // A sound that is cut off has faded by then.
  setTimeout(() => void own.player.close(), 100);
}

function show(event: TalkEvent): void {
  switch (event.kind) {
    case "phase":
      phase.textContent = PHASES[event.phase];
      phase.dataset["phase"] = event.phase;
      stop.hidden = event.phase !== "thinking" && event.phase !== "speaking";
      break;
    case "question":
      beginTurn(event.text);
      break;
    case "text":
      current?.said.append(event.text);
      break;
    case "sound":
      figures.textContent = `First sound ${seconds(event.seconds)} after the first sentence.`;
      break;
    case "end":
      endTurn(event.turn);
  }
}

function beginTurn(question: string): void {
  const said = h("span", { class: "said" });
  const entry = h("li", { class: "turn" }, h("p", {}, h("b", {}, "You: "), question), h("p", {}, h("b", {}, "Model: "), said));
  turns.append(entry);
  current = { said, entry };
  actions.hidden = false;
  entry.scrollIntoView({ block: "nearest" });
}

/** The part of the answer that was not heard is not kept. */
function endTurn(turn: Turn | undefined): void {
  if (!current) return;
  const { said, entry } = current;
  current = null;
  said.textContent = turn?.answer ?? "";
  if (!turn || turn.interrupted) entry.lastElementChild?.append(h("span", { class: "interrupted" }, turn?.answer ? " – interrupted" : "interrupted"));
}

function panel(role: keyof typeof engines, extras: Extras): HTMLElement {
  const made = opener(open, opened(role), extras);
  if (role === "speaker") made.sheet.append(...codecField(codec));
  models.append(made.element);
  void made.start();
  return made.element;
}

function page(): HTMLElement[] {
  begin.addEventListener("click", () => void (under ? end() : start(true)));
  stop.addEventListener("click", () => under?.conversation.stop());
  const form = h("form", { class: "row", "aria-label": "Type" }, h("label", { for: "typed", class: "visually-hidden" }, "Question"), typed, send);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const question = typed.value.trim();
    if (question === "" || missing() !== null) return;
    typed.value = "";
    if (!under) await start(false);
    under?.conversation.ask(question);
  });
  const settings = h(
    "details",
    {},
    h("summary", {}, "Settings"),
    h("p", {}, h("label", { class: "check" }, interrupts, "Who speaks interrupts the answer")),
    h("p", { class: "hint" }, "A microphone that hears the loudspeaker would interrupt every answer: use headphones, or switch this off."),
    h("p", {}, h("label", { class: "box" }, "Language", language)),
    h("label", { for: "system" }, "What the model is told first"),
    system,
  );
  return [
    h("section", { class: "panel stage", "aria-label": "Conversation" }, begin, phase, meter, stop, figures),
    h("p", { class: "hint" }, "Headphones are best. Speak while the model speaks, and it stops."),
    form,
    settings,
    turns,
    actions,
  ];
}

startPage();
byId("models").append(models);
byId("talk").append(...page());
panel("listener", { id: "listener", title: "Model that hears", suggested: LISTENERS, initial: "" });
panel("answerer", { title: "Model that answers" });
panel("speaker", {
  id: "speaker",
  title: "Model that speaks",
  suggested: [],
  initial: "",
  isOpen: true,
  options: () => (codec.value.trim() === "" ? {} : { codec: codec.value.trim() }),
});
