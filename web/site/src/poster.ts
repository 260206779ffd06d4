// A model on one picture: its graph as the architecture writes it and after fusion, the memory that it takes, and how fast the
// memory of a device lets it write. Its headers are enough for that.
import type { Look } from "tokamak-web";
import { EDGE, WIDTH, board, saveCanvas } from "./board.ts";
import { h } from "./dom.ts";
import { bytes, figure } from "./numbers.ts";
import { placeOf } from "./opening.ts";
import { showError } from "./shell.ts";

export interface PosterFacts {
  title: string;
  about: string;
  /** The operations of a token, in their order. */
  before: string[];
  after: string[];
  /** Bytes that a token moves. */
  traffic: number;
  memory: [name: string, bytes: number][];
}

const INNER = WIDTH - 2 * EDGE;
/** Tones that are told apart on white and on black. */
const TONES = ["#3b82c4", "#e08a2e", "#43a865", "#a86fc4", "#d9605a", "#2f9d9a", "#8a8f3a", "#7a7f8c"];
/** Bytes per second of the memories of devices. */
const BANDWIDTHS: [name: string, bytesPerSecond: number][] = [["phone", 60e9], ["laptop", 120e9], ["large laptop", 400e9], ["graphics card", 1000e9]];

/** "0.6 B", "135 M" */
const parametersText = (count: number): string => (count >= 1e9 ? `${figure(count / 1e9)} B` : count >= 1e6 ? `${figure(count / 1e6)} M` : `${figure(count / 1e3)} k`);

export async function factsOf(engine: Look): Promise<PosterFacts> {
  const form = { form: "json" } as const;
  const [graph, fused, plan, { parameters }] = [await engine.inspect("graph", form), await engine.inspect("fused", form), await engine.inspect("plan", form), await engine.inspect("summary", form)];
  const { model, adapter } = engine;
  const phase = plan.phases.findLast(({ max_tokens }) => max_tokens === 1);
  const ofGraph = fused.nodes.reduce((sum, node) => sum + node.bytes, 0);
  const { weights, cache, activations, other } = model.memory;
  return {
    title: model.name,
    about: `${model.architecture}, ${parametersText(parameters)} parameters, ${model.quantization}, ${model.layers} layers, on ${placeOf(adapter)}`,
    before: graph.nodes.map(({ op }) => op),
    after: phase ? phase.steps.map(({ op }) => op) : fused.nodes.map(({ op }) => op),
    traffic: phase?.bytes ?? ofGraph,
    memory: [["weights", weights], [`cache of ${model.context} tokens`, cache], ["activations", activations], ["other", other]],
  };
}

/** The bound that a memory sets, in tokens per second. */
export const boundOf = ({ traffic }: PosterFacts, bytesPerSecond: number): number => bytesPerSecond / Math.max(1, traffic);

/** "linear" of a fused_linear, which has its tone. */
const kindOf = (op: string) => op.split("_").at(-1)!;

/** The most frequent kinds of operations get a tone each, the others the last one. */
function tonesOf(ops: string[]): (op: string) => string {
  const counts = new Map<string, number>();
  for (const op of ops) counts.set(kindOf(op), (counts.get(kindOf(op)) ?? 0) + 1);
  const order = [...counts].sort(([, a], [, b]) => b - a).map(([kind]) => kind);
  return (op) => TONES[Math.min(order.indexOf(kindOf(op)), TONES.length - 1)]!;
}

export function drawPoster(facts: PosterFacts): HTMLCanvasElement {
  const { canvas, context, colours: { ink, faint, line, plasma }, write } = board();
  const { before, after, memory } = facts;
  write(facts.title, EDGE, 84, 46, ink, 700);
  write(facts.about, EDGE, 122, 24, faint);

  const cell = INNER / Math.max(1, before.length, after.length);
  const toneOf = tonesOf([...before, ...after]);
  const strip = (ops: string[], y: number, height: number) => {
    const gap = cell > 4 ? 1 : 0;
    for (const [at, op] of ops.entries()) {
      context.fillStyle = toneOf(op);
      context.fillRect(EDGE + at * cell, y, cell - gap, height);
    }
  };
  write(`${before.length} operations as the architecture writes them`, EDGE, 172, 24, ink, 600);
  strip(before, 186, 44);
  write(`${after.length} kernels for a token, after fusion`, EDGE, 272, 24, ink, 600);
  strip(after, 286, 44);
  let x = EDGE;
  for (const op of new Set(after)) {
    context.font = `400 20px ${getComputedStyle(document.body).fontFamily}`;
    const { width } = context.measureText(op);
    if (x + width + 24 > WIDTH - EDGE) break;
    context.fillStyle = toneOf(op);
    context.fillRect(x, 344, 14, 14);
    write(op, x + 20, 358, 20, faint);
    x += width + 42;
  }

  const total = memory.reduce((sum, [, size]) => sum + size, 0);
  write(`${bytes(total)} of memory`, EDGE, 412, 24, ink, 600);
  let left = EDGE;
  for (const [at, [, size]] of memory.entries()) {
    const width = (INNER * size) / Math.max(1, total);
    context.fillStyle = TONES[at]!;
    context.fillRect(left, 426, Math.max(0, width - 1), 22);
    left += width;
  }
  write(memory.filter(([, size]) => size > 0).map(([name, size]) => `${name} ${bytes(size)}`).join("   "), EDGE, 476, 20, faint);

  context.fillStyle = line;
  context.fillRect(EDGE, 496, INNER, 1);
  const column = INNER / BANDWIDTHS.length;
  for (const [at, [name, bandwidth]] of BANDWIDTHS.entries()) {
    const place = EDGE + at * column;
    write(`≤ ${figure(boundOf(facts, bandwidth))} tok/s`, place, 538, 26, plasma, 700, column - 10);
    write(`${name}, ${bandwidth / 1e9} GB/s`, place, 566, 20, faint, 400, column - 10);
  }
  write("Tokamak: nothing leaves the tab", EDGE, 606, 20, faint);
  return canvas;
}

/** Draws the poster of a model into a section, with a button that saves it. */
export async function showPoster(place: HTMLElement, engine: Look): Promise<void> {
  const facts = await factsOf(engine);
  const canvas = drawPoster(facts);
  canvas.className = "poster";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${facts.title}: ${facts.before.length} operations become ${facts.after.length} kernels`);
  const save = h("button", { type: "button" }, "Save the poster");
  save.addEventListener("click", () => void saveCanvas(drawPoster(facts), `${facts.title}.png`).catch((error: unknown) => showError(place, error)));
  place.replaceChildren(
    h("p", { class: "hint" }, "Drop any model on this page: a .gguf file or a folder. It is read where it lies; its headers are enough. The speeds are what the memory of a device allows, not what was measured."),
    canvas,
    h("div", { class: "row" }, save),
  );
}
