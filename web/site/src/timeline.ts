// A step of the model on this device, dispatch by dispatch, measured by the device's own clock.
import type { Engine } from "tokamak-web";
import { select, selection } from "./address.ts";
import { byId, h } from "./dom.ts";
import { keepBandwidth } from "./measured.ts";
import { showError } from "./shell.ts";
import { joinEngine } from "./site_model.ts";
import { counts } from "./timeline/counts.ts";
import { type Drawn, drawProfile } from "./timeline/drawing.ts";
import { currentView } from "./view.ts";

const PLAY_MS = 150;

const place = byId("profile");

interface Panel {
  end(): void;
}

/** The values of a step that the engine is asked to measure. */
function asked(tokens: HTMLInputElement, depth: HTMLInputElement): object {
  return { tokens: Number(tokens.value), depth: Number(depth.value), repetitions: 3, page: true };
}

function number(id: string, value: number, min: number): HTMLInputElement {
  return h("input", { type: "number", id, value, min, step: 1, required: true, class: "short" });
}

function show(engine: Engine): Panel {
  let drawn: Drawn | null = null;
  let abort: AbortController | null = null;
  let player: ReturnType<typeof setInterval> | undefined;
  const { values } = selection();
  const tokens = number("step-tokens", Number(values.get("tokens")) || 1, 1);
  const depth = number("step-depth", Number(values.get("depth")) || 0, 0);
  const live = h("input", { type: "checkbox", id: "live" });
  const measureButton = h("button", { type: "submit" }, "Measure");
  const play = h("button", { type: "button", class: "quiet", disabled: true }, "Play");
  const status = h("span", { class: "status", role: "status" });
  const drawing = h("div", { class: "profile" });
  const form = h(
    "form",
    { class: "row panel", id: "step" },
    h("span", { class: "check" }, h("label", { for: "step-tokens" }, "Tokens"), tokens),
    h("span", { class: "check" }, h("label", { for: "step-depth" }, "after"), depth),
    measureButton,
    h("label", { class: "check" }, live, "again and again"),
    play,
    status,
  );
  place.replaceChildren(form, drawing);

  async function measure(): Promise<void> {
    abort?.abort();
    const own = new AbortController();
    abort = own;
    status.textContent = "Timing the kernels …";
    try {
      do {
        const data = await engine.profile({ ...asked(tokens, depth), signal: own.signal });
        if (own.signal.aborted) return;
        keepBandwidth(engine.adapter, data.bandwidth);
        if (data.steps.every(({ us }) => us === 0)) return await showCounts("The browser's clock is too coarse for kernels as short as these.");
        const at = drawn ? null : selection().values.get("at");
        drawn = drawProfile(drawing, data, drawn, (index) => select(drawing, { at: index }));
        if (at !== null) drawn.select(Number(at));
        play.disabled = false;
        status.textContent = `Measured at ${new Date().toLocaleTimeString()}.`;
      } while (live.checked);
    } catch (error) {
      if (!own.signal.aborted) await withoutClock(error);
    }
  }

  /** The sentence that says why there are no times, and counts. */
  async function withoutClock(error: unknown): Promise<void> {
    const { code, message } = error as { code?: string; message: string };
    status.textContent = "";
    if (code === "unsupported") await showCounts(message);
    else showError(place, error);
  }

  async function showCounts(why: string): Promise<void> {
    status.textContent = "";
    stopPlaying();
    play.disabled = true;
    drawn = null;
    drawing.replaceChildren();
    const found = await counts(engine);
    drawing.className = "";
    drawing.replaceChildren(h("p", { role: "status" }, `${why} These are the dispatches without times.`), ...found);
  }

  function stopPlaying(): void {
    clearInterval(player);
    player = undefined;
    play.textContent = "Play";
  }
  /** Goes from dispatch to dispatch, from the beginning where it stands at the end. */
  play.addEventListener("click", () => {
    if (player !== undefined) return stopPlaying();
    if (drawn && drawn.selected() === drawn.steps.length - 1) drawn.select(0);
    play.textContent = "Pause";
    player = setInterval(() => {
      const next = (drawn?.selected() ?? 0) + 1;
      if (!drawn || next >= drawn.steps.length) return stopPlaying();
      drawn.select(next);
    }, PLAY_MS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    place.querySelector(":scope > .error")?.remove();
    drawing.className = "profile";
    select(form, { tokens: tokens.value, depth: depth.value });
    void measure();
  });
  // It takes a processor some seconds, in which the model answers nobody.
  if (engine.adapter.backend === "cpu") void showCounts("On the processor a measurement takes a while, in which the model answers nothing else; Measure begins it.").catch((error: unknown) => showError(place, error));
  else void measure();
  return {
    end: () => {
      abort?.abort();
      stopPlaying();
    },
  };
}

let panel: Panel | null = null;
joinEngine({
  place: byId("opener"),
  opened: ({ own }) => {
    panel?.end();
    panel = show(own);
  },
});
currentView().hidden.add(() => panel?.end());
