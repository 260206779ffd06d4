// The line in the header about the open model: its name, its device, what it does, and its speed while it writes.
import type { Engine, EngineState, Look } from "tokamak-web";
import { h } from "./dom.ts";
import { figure } from "./numbers.ts";
import { placeOf } from "./opening.ts";

/** Between two times that the line is drawn, and the time that a speed is of, in milliseconds. */
const DRAW_MS = 200;
const SPEED_MS = 2000;

/** A number of tokens that there were at a time. */
export interface Count {
  at: number;
  tokens: number;
}

/** Tokens per second of the last two seconds; 0 where there are none. */
export function speedOf(counts: Count[]): number {
  const last = counts.at(-1);
  const first = counts.find(({ at }) => last && at >= last.at - SPEED_MS);
  if (!first || !last || last.at === first.at) return 0;
  return ((last.tokens - first.tokens) * 1000) / (last.at - first.at);
}

/** The words for what an engine does. */
export function stateText({ status, lost, lastResult }: EngineState, speed: number): string {
  if (status === "crashed") return "stopped";
  if (status === "closed") return "closed";
  if (status === "reopening") return "opened again";
  if (lost) return "GPU lost";
  if (status === "busy") return speed > 0 ? `${figure(speed)} tok/s` : "working";
  const { tokens = 0, decodeSeconds = 0 } = lastResult ?? {};
  return tokens > 1 && decodeSeconds > 0 ? `ready, ${figure((tokens - 1) / decodeSeconds)} tok/s` : "ready";
}

const line = (): HTMLElement | null => document.getElementById("engine");
let forget = (): void => undefined;

function draw(name: string, place: string, state: string, isBusy: boolean, tabs = 1): void {
  const element = line();
  if (!element) return;
  element.toggleAttribute("data-busy", isBusy);
  // A phone has room for the speed alone.
  const [, word = "", speed = state] = /^(ready, )(.*)$/.exec(state) ?? [];
  const shared = tabs > 1 ? `${tabs} tabs` : "";
  element.title = `${name}${place && ` on ${place}`}${shared && `, in ${shared}`}: ${state}`;
  element.replaceChildren(h("span", { class: "dot", "aria-hidden": "true" }), h("strong", {}, name), place && h("span", { class: "place" }, `on ${place}`), shared && h("span", { class: "tabs" }, shared), h("span", { class: "state" }, word && h("span", { class: "word" }, word), speed));
}

/** A model is being opened; `share` of that is there. */
export function showOpening(name: string, share: number): void {
  forget();
  draw(name, "", `opening, ${Math.round(100 * share)} %`, true);
}

/** No model is open any more. */
export function showNone(): void {
  forget();
  line()?.replaceChildren();
}

/** The line for a model of which only the headers were read. */
export function showLook({ adapter, model }: Look): void {
  forget();
  draw(model.name, placeOf(adapter), "not loaded", false);
}

/** From now on the line is about this model. */
export function showEngine({ adapter, model: { name }, store }: Engine): void {
  forget();
  const place = placeOf(adapter);
  let counts: Count[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const drawNow = () => {
    timer = undefined;
    const state = store.getSnapshot();
    const at = performance.now();
    const isBusy = state.status === "busy";
    counts = isBusy ? [...counts.filter((one) => at - one.at <= SPEED_MS), { at, tokens: state.tokens }] : [];
    draw(name, place, stateText(state, speedOf(counts)), isBusy, state.tabs);
    if (isBusy) later();
  };
  const later = () => (timer ??= setTimeout(drawNow, DRAW_MS));
  const leave = store.subscribe(later);
  forget = () => {
    leave();
    clearTimeout(timer);
    forget = () => undefined;
  };
  drawNow();
}
