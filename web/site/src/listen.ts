// The page that writes down what is said: a recording of the microphone's, or a file of sound.
import { type Engine, type Segment, open } from "tokamak-web";
import { LISTENERS } from "./listeners.ts";
import { byId, copyButton, download, h } from "./dom.ts";
import { seconds } from "./numbers.ts";
import { mountOpener } from "./opener.ts";
import { showError } from "./shell.ts";

const place = byId("listen");
let engine: Engine | null = null;
let recorder: MediaRecorder | null = null;
let abort: AbortController | null = null;
let text = "";
let subtitles = "";

const record = h("button", { type: "button", disabled: true }, "Record");
const stop = h("button", { type: "button", class: "quiet", hidden: true }, "Stop");
const file = h("input", { type: "file", id: "sound", accept: "audio/*,video/*", class: "visually-hidden", disabled: true });
const language = h("input", { id: "language", class: "short", maxlength: 3, placeholder: "auto", autocomplete: "off", spellcheck: "false" });
const status = h("p", { class: "status", role: "status" }, "Open a model that hears.");
const lines = h("ol", { class: "plain transcript", "aria-live": "polite" });
const actions = h("div", { class: "row", hidden: true }, copyButton(() => text));

const clock = (at: number) => `${Math.floor(at / 60)}:${String(Math.floor(at % 60)).padStart(2, "0")}`;

function line({ start, text: said }: Segment): HTMLElement {
  return h("li", {}, h("span", { class: "faint mono" }, clock(start)), ` ${said.trim()}`);
}

function refresh(): void {
  const isBusy = abort !== null;
  const hears = engine?.model.hears ?? false;
  record.textContent = recorder ? "Finish" : "Record";
  record.disabled = !hears || isBusy;
  file.disabled = !hears || isBusy || recorder !== null;
  stop.hidden = !isBusy;
}

/** Writes down what is in the recording, part by part. */
async function hear(sound: Blob): Promise<void> {
  if (!engine) return;
  abort = new AbortController();
  place.querySelector(":scope > .error")?.remove();
  lines.replaceChildren();
  actions.hidden = true;
  status.textContent = "Listening …";
  refresh();
  const began = performance.now();
  try {
    const asked = language.value.trim();
    const transcript = await engine.transcribe(sound, {
      ...(asked !== "" && { language: asked }),
      format: "srt",
      signal: abort.signal,
      onSegment: (segment) => lines.append(line(segment)),
    });
    text = transcript.text;
    subtitles = transcript.file ?? "";
    actions.hidden = text === "";
    const spoken = transcript.language ? `, in ${transcript.language}` : "";
    status.textContent = `${seconds(transcript.duration)} of sound${spoken}, written down in ${seconds((performance.now() - began) / 1000)}.`;
  } catch (error) {
    const isStopped = (error as { code?: string }).code === "cancelled";
    status.textContent = isStopped ? "Stopped." : "";
    if (!isStopped) showError(place, error);
  } finally {
    abort = null;
    refresh();
  }
}

async function startRecording(): Promise<void> {
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    const own = new MediaRecorder(stream);
    const parts: Blob[] = [];
    own.addEventListener("dataavailable", ({ data }) => parts.push(data));
    own.addEventListener("stop", () => {
      for (const track of stream.getTracks()) track.stop();
      recorder = null;
      void hear(new Blob(parts, { type: own.mimeType }));
    });
    own.start();
    recorder = own;
    status.textContent = "Recording. What you say stays in this tab.";
  } catch (error) {
    showError(place, new Error(`The microphone cannot be used: ${(error as Error).message}`));
  }
  refresh();
}

function page(): HTMLElement[] {
  record.addEventListener("click", () => {
    if (recorder) recorder.stop();
    else void startRecording();
  });
  stop.addEventListener("click", () => abort?.abort());
  file.addEventListener("change", () => {
    const [chosen] = file.files ?? [];
    file.value = "";
    if (chosen) void hear(chosen);
  });
  const exported = h("button", { type: "button", class: "quiet" }, "Export");
  exported.addEventListener("click", () => download("transcript.txt", `${text}\n`, "text/plain"));
  const withTimes = h("button", { type: "button", class: "quiet" }, "Export subtitles");
  withTimes.addEventListener("click", () => download("transcript.srt", subtitles, "application/x-subrip"));
  actions.append(exported, withTimes);
  return [
    h("div", { class: "row" }, record, stop, h("label", { class: "button quiet", for: "sound" }, "Sound file …"), file, h("span", { class: "box" }, h("label", { for: "language" }, "Language"), language)),
    status,
    h("section", { "aria-label": "Transcript" }, lines, actions),
  ];
}

place.append(...page());
const isSound = ({ type }: File) => type.startsWith("audio/") || type.startsWith("video/");
void mountOpener(
  open,
  (opened) => {
    engine = opened;
    status.textContent = opened.model.hears ? "Record, choose a file of sound, or drop one on this page." : "This model does not hear; open another one.";
    refresh();
  },
  {
    suggested: LISTENERS,
    initial: "",
    claims: (files) => {
      const [first] = files;
      if (!engine?.model.hears || abort || recorder || files.length !== 1 || !first || !isSound(first)) return false;
      void hear(first);
      return true;
    },
  },
).start();
