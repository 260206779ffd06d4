// The result of a bench as a picture to share.
import type { BenchReport, Engine } from "tokamak-web";
import { EDGE, WIDTH, board, saveCanvas } from "./board.ts";
import { checkLines, testTitle } from "./bench_report.ts";
import { bytes, figure, seconds } from "./numbers.ts";

const TESTS = 4;

export function picture(report: BenchReport, engine: Engine): HTMLCanvasElement {
  const { canvas, write, colours: { ink, faint, accent, right } } = board();
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

export const savePicture = (report: BenchReport, engine: Engine): Promise<void> => saveCanvas(picture(report, engine), "tokamak-bench.png");
