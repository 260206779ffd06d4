// A token of an answer under glass: the dispatches that made it, what they move, how long they take, and how long they would at least.
import type { Engine, PlanStep, StepProfile } from "tokamak-web";
import { h } from "./dom.ts";
import { bytes, figure, seconds } from "./numbers.ts";

/** The colours that the style sheet has for kinds. */
const COLOURS = 6;

export interface Place {
  /** Tokens before it, those of the prompt as well. */
  depth: number;
  /** Milliseconds between the token before it and this one, as the page saw them. */
  ms: number;
}

interface Dispatch {
  op: string;
  kernel: string;
  bytes: number;
  /** Seconds that it took, and those that it takes at least; 0 where they are not measured. */
  time: number;
  floor: number;
}

export interface Glass {
  readonly element: HTMLElement;
  show(place: Place): Promise<void>;
}

/** The time of each dispatch beside its bound: its bytes at the measured bandwidth or its operations, and a launch. */
export function timed({ steps, bandwidth, peak_flops, launch_seconds }: StepProfile): Dispatch[] {
  return steps.map(({ op, kernel, bytes: moved, flops, us }) => {
    const floor = Math.max(moved / bandwidth, flops / peak_flops) + launch_seconds;
    return { op, kernel, bytes: moved, time: us / 1e6, floor };
  });
}

const sum = (dispatches: Dispatch[], what: "bytes" | "time" | "floor") => dispatches.reduce((all, one) => all + one[what], 0);

/** One sentence on a step. */
export function factsOf(dispatches: Dispatch[], place: string, { ms }: Place): string {
  const moved = sum(dispatches, "bytes");
  const begin = `${dispatches.length} dispatches move ${bytes(moved)}; the token came ${seconds(ms / 1000)} after the one before it.`;
  const time = sum(dispatches, "time");
  if (time === 0) return begin;
  const floor = sum(dispatches, "floor");
  const share = floor <= time
    ? `The roofline of ${place} is ${seconds(floor)}, of which it reaches ${figure((100 * floor) / time)} %.`
    : `At the bandwidth of ${place}'s memory they would take ${seconds(floor)}: caches give them more than that.`;
  return `${begin} By themselves they take ${seconds(time)}, ${figure(moved / time / 1e9)} GB/s. ${share}`;
}

/** The dispatches side by side, each as wide as its share of `whole`. */
function bar(title: string, dispatches: Dispatch[], what: "bytes" | "time" | "floor", whole: number, ops: string[]): HTMLElement {
  const boxes = dispatches.map((one) => {
    const box = h("span", { class: `kind${ops.indexOf(one.op) % COLOURS}`, title: `${one.kernel}: ${what === "bytes" ? bytes(one.bytes) : seconds(one[what])}` });
    box.style.width = `${(100 * one[what]) / whole}%`;
    return box;
  });
  return h("div", { class: "glass-bar" }, h("span", { class: "hint" }, title), h("div", { "aria-hidden": "true" }, ...boxes));
}

function legend(dispatches: Dispatch[], ops: string[]): HTMLElement {
  const count = (op: string) => dispatches.filter((one) => one.op === op).length;
  return h("ul", { class: "glass-legend" }, ...ops.map((op, at) => h("li", {}, h("span", { class: `kind${at % COLOURS}`, "aria-hidden": "true" }), `${count(op)} × ${op.replaceAll("_", " ")}`)));
}

export function glass(engine: Engine): Glass {
  let planned: Promise<PlanStep[]> | null = null;
  /** By depth. */
  const profiles = new Map<number, Promise<StepProfile>>();
  let isMeasuring = false;
  let current: Place | null = null;
  const facts = h("p", { class: "glass-facts", role: "status" });
  const bars = h("div");
  const measure = h("button", { type: "button", class: "quiet" }, "Time these dispatches");
  const link = h("a", {}, "On the timeline");
  const element = h("section", { class: "glass", "aria-label": "The token's dispatches" }, facts, bars, h("div", { class: "row" }, measure, link));
  const device = engine.adapter.backend === "cpu" ? "the processor" : "the GPU";

  async function stepsOfPlan(): Promise<PlanStep[]> {
    const { phases } = await engine.inspect("plan", { form: "json" });
    return (phases.find(({ max_tokens }) => max_tokens === 1) ?? phases.at(-1))?.steps ?? [];
  }

  function draw(place: Place, dispatches: Dispatch[]): void {
    const ops = [...new Set(dispatches.map(({ op }) => op))];
    const [time, floor] = [sum(dispatches, "time"), sum(dispatches, "floor")];
    const longest = Math.max(time, floor);
    facts.textContent = factsOf(dispatches, device, place);
    bars.replaceChildren(
      ...(time > 0
        ? [bar("time", dispatches, "time", longest, ops), bar("roofline", dispatches, "floor", longest, ops)]
        : [bar("bytes", dispatches, "bytes", sum(dispatches, "bytes") || 1, ops)]),
      legend(dispatches, ops),
    );
  }

  /** Times the step at this depth; who holds an arrow key waits for the last one alone. */
  async function drawTimes(place: Place): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 150));
    if (current !== place) return;
    const asked = { sequences: 1, depth: place.depth, repetitions: 3, page: true };
    const known = profiles.get(place.depth) ?? engine.profile(asked);
    profiles.set(place.depth, known);
    const found = await known;
    if (current === place) draw(place, timed(found));
  }

  async function show(place: Place): Promise<void> {
    current = place;
    link.setAttribute("href", `./timeline.html#tokens=1&depth=${place.depth}`);
    const steps = await (planned ??= stepsOfPlan());
    if (current !== place) return;
    draw(place, steps.map(({ op, kernel, bytes: moved }) => ({ op, kernel, bytes: moved, time: 0, floor: 0 })));
    if (isMeasuring) await drawTimes(place);
  }

  measure.addEventListener("click", () => {
    isMeasuring = true;
    measure.disabled = true;
    facts.textContent = "Timing the kernels …";
    const place = current;
    if (!place) return;
    drawTimes(place).then(() => measure.remove(), (error: unknown) => {
      isMeasuring = false;
      measure.remove();
      void show(place).then(() => facts.append(` ${(error as Error).message}`));
    });
  });
  return { element, show };
}
