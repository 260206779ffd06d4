// The result of a bench as a picture to share.
import type { BenchReport, Engine } from "tokamak-web";
import { checkLines, testTitle } from "./bench_report.ts";
import { bytes, figure, seconds } from "./numbers.ts";

const WIDTH = 1200;
const HEIGHT = 630;
const EDGE = 64;
const TESTS = 4;

/** Cuts a text to a width, with dots for what is left out. */
function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 0 && context.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end)}…`;
}

/** In the page's own colours. */
export function picture(report: BenchReport, engine: Engine): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH;
  canvas.height = HEIGHT;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser cannot draw the picture.");
  // A canvas takes colours, not custom properties: elements know what those come to.
  const probe = document.body.appendChild(document.createElement("span"));
  const colour = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const [paper, ink, faint, accent, right] = ["paper", "ink", "faint", "accent", "right"].map(colour) as [string, string, string, string, string];
  probe.remove();
  const { fontFamily } = getComputedStyle(document.body);
  const write = (text: string, x: number, y: number, size: number, fill: string, weight = 400, width = WIDTH - EDGE - x) => {
    context.font = `${weight} ${size}px ${fontFamily}`;
    context.fillStyle = fill;
    context.fillText(cut(context, text, width), x, y);
  };

  context.fillStyle = paper;
  context.fillRect(0, 0, WIDTH, HEIGHT);
  context.fillStyle = accent;
  context.fillRect(0, 0, WIDTH, 10);
  const { model, adapter } = engine;
  write(model.name, EDGE, 92, 44, ink, 700);
  write(`${model.architecture}, ${model.quantization}, ${bytes(model.memory.weights)} of weights`, EDGE, 134, 26, faint);
  write(`${adapter.backend === "cpu" ? "On the processor" : adapter.name}, in a browser tab`, EDGE, 170, 26, faint);

  const tests = report.tests.slice(0, TESTS);
  const step = (WIDTH - 2 * EDGE) / Math.max(2, tests.length);
  const size = tests.length > 3 ? 60 : 84;
  for (const [index, test] of tests.entries()) {
    const x = EDGE + index * step;
    write(figure(test.mean_tokens_per_second), x, 330, size, accent, 700, step - 20);
    write("tokens/s", x, 372, 26, ink, 400, step - 20);
    write(testTitle(test.name), x, 408, 24, faint, 400, step - 20);
  }
  const first = report.time_to_first_token_seconds;
  const parts = [
    ...(first === null ? [] : [`first token ${seconds(first)}`]),
    `loaded in ${seconds(engine.loadTimes.total)}`,
    ...(tests.at(-1) ? [`${figure(tests.at(-1)?.launches_per_token ?? 0)} launches a token`] : []),
  ];
  write(parts.join("   ·   "), EDGE, 490, 26, ink);
  write(`✓ ${checkLines(report.check).map(({ text }) => text).join(" ")}`, EDGE, 532, 24, right);
  write("Tokamak: nothing leaves the tab", EDGE, 590, 24, faint);
  return canvas;
}

export async function savePicture(report: BenchReport, engine: Engine): Promise<void> {
  const blob = await new Promise<Blob | null>((resolve) => picture(report, engine).toBlob(resolve));
  if (!blob) throw new Error("The browser cannot save the picture.");
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = "tokamak-bench.png";
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
