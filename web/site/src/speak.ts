// The page that says texts, by a model that speaks and the codec that makes sound of what it says.
import { type Engine, type Speech, open, wavFile } from "tokamak-web";
import { codecField, codecInput } from "./codec.ts";
import { byId, downloadFile, h } from "./dom.ts";
import { seconds } from "./numbers.ts";
import { mountOpener } from "./opener.ts";
import { Player } from "./player.ts";
import { showError, startPage } from "./shell.ts";

let engine: Engine | null = null;
let abort: AbortController | null = null;
let player: Player | null = null;
let speech: Speech | null = null;

const codec = codecInput();
const text = h("textarea", { id: "text", rows: 4, placeholder: "What shall be said?" });
const say = h("button", { type: "submit", disabled: true }, "Speak");
const stop = h("button", { type: "button", class: "quiet", hidden: true }, "Stop");
const save = h("button", { type: "button", class: "quiet", hidden: true }, "Save as WAV");
const status = h("p", { class: "status", role: "status" }, "Open a model that speaks, with its codec.");

function refresh(): void {
  say.disabled = !(engine?.model.speaks && codec.value.trim() !== "") || abort !== null;
  stop.hidden = abort === null && player === null;
  save.hidden = speech === null;
}

async function speak(own: Engine): Promise<void> {
  abort = new AbortController();
  await player?.close();
  player = new Player();
  speech = null;
  byId("speak").querySelector(":scope > .error")?.remove();
  status.textContent = "Speaking …";
  refresh();
  const began = performance.now();
  let first = 0;
  try {
    speech = await own.speak(text.value, {
      signal: abort.signal,
      onSamples: (samples, rate) => {
        first ||= performance.now();
        player?.play(samples, rate);
      },
    });
    const cut = speech.cut > 0 ? ` ${speech.cut} of ${speech.pieces} parts were cut off.` : "";
    status.textContent =
      `${seconds(speech.samples.length / speech.rate)} of sound, made in ${seconds((performance.now() - began) / 1000)}, ` +
      `the first after ${seconds((first - began) / 1000)}.${cut}`;
  } catch (error) {
    const isStopped = (error as { code?: string }).code === "cancelled";
    status.textContent = isStopped ? "Stopped." : "";
    if (!isStopped) showError(byId("speak"), error);
  } finally {
    abort = null;
    refresh();
  }
}

function page(): HTMLElement {
  const form = h("form", {}, h("label", { for: "text" }, "Text"), text, h("div", { class: "row" }, say, stop, save), status);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (engine && !say.disabled && text.value.trim() !== "") void speak(engine);
  });
  stop.addEventListener("click", async () => {
    abort?.abort();
    await player?.close();
    player = null;
    refresh();
  });
  save.addEventListener("click", () => speech && downloadFile("speech.wav", wavFile(speech.samples, speech.rate)));
  return form;
}

startPage();
byId("speak").append(page());
const opener = mountOpener(
  open,
  (opened) => {
    engine = opened;
    const isWhole = opened.model.speaks && codec.value.trim() !== "";
    status.textContent = isWhole ? "Type a text, and let it be said." : opened.model.speaks ? "Name its codec, and open it again." : "This model does not speak; open another one.";
    refresh();
  },
  {
    suggested: [],
    initial: "",
    isOpen: true,
    options: () => (codec.value.trim() === "" ? {} : { codec: codec.value.trim() }),
  },
);
opener.sheet.append(...codecField(codec));
void opener.start();
