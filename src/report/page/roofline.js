"use strict";
// Operations per second against operations per byte, both axes logarithmic.
const chart = {width: 760, height: 330, left: 62, right: 12, top: 10, bottom: 40};

function flops(count) {
  const units = ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"];
  let unit = 0;
  while (count >= 1000 && unit < 4) [count, unit] = [count / 1000, unit + 1];
  return `${fixed(count, unit ? 1 : 0)} ${units[unit]}`;
}
const flop_rate = (rate) => `${flops(rate)}/s`;

const computing = steps.filter((step) => step.flops > 0 && step.bytes > 0 && step.us > 0)
  .map((step) => ({step, x: step.flops / step.bytes, y: step.computed * 1e12}));

/** Powers of ten around the values, and where one of them lies between `from` and `to`. */
function log_scale(values, from, to) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const ticks = Array.from({length: high - low + 1}, (_, i) => 10 ** (low + i));
  return {ticks, place: (value) => from + (to - from) * (Math.log10(value) - low) / (high - low)};
}

function draw_axes(svg, x, y) {
  const {width, height, left, right, top, bottom} = chart;
  for (const tick of x.ticks) {
    const at = x.place(tick);
    svg.append(make("line", {x1: at, x2: at, y1: top, y2: height - bottom, class: "row"}),
               make("text", {x: at, y: height - bottom + 16, "text-anchor": "middle"}, `${tick}`));
  }
  for (const tick of y.ticks) {
    const at = y.place(tick);
    svg.append(make("line", {x1: left, x2: width - right, y1: at, y2: at, class: "row"}),
               make("text", {x: left - 6, y: at + 4, "text-anchor": "end"},
                    flops(tick).replace(".0 ", " ").replace("FLOP", "")));
  }
  svg.append(make("text", {x: width - right, y: height - 6, "text-anchor": "end"},
                  "FLOP per byte"),
             make("text", {x: left + 6, y: top + 12}, "FLOP/s"));
}

function draw_roofline() {
  const ridge = data.peak_flops / data.bandwidth;
  const idle = steps.length - computing.length;
  find("roofline-about").textContent =
    `Measured on this device: ${fixed(data.bandwidth / 1e9, 1)} GB/s, ` +
    `${flop_rate(data.peak_flops)} in a large product of matrices, ` +
    `${microseconds(data.launch_seconds * 1e6)} for a dispatch that computes next to nothing. ` +
    `Below ${fixed(ridge, 1)} FLOP per byte memory is the limit, above it computing.` +
    (idle ? ` ${idle} dispatches that compute nothing are not shown.` : "");
  if (!computing.length) return;
  const {width, height, left, right, top, bottom} = chart;
  const x = log_scale([...computing.map((dot) => dot.x), ridge], left, width - right);
  const y = log_scale([...computing.map((dot) => dot.y), data.peak_flops], height - bottom, top);
  const svg = make("svg", {width, height, role: "img", "aria-label":
    `${computing.length} dispatches below the roofline of the device`});
  draw_axes(svg, x, y);
  const first = Math.max(x.ticks[0], y.ticks[0] / data.bandwidth);
  const last = x.ticks[x.ticks.length - 1];
  const corner = (at) => `${x.place(at)} ${y.place(Math.min(at * data.bandwidth, data.peak_flops))}`;
  svg.append(make("path", {class: "roof", d: `M ${corner(first)} L ${corner(ridge)} L ${corner(last)}`}));
  for (const {step, x: intensity, y: rate} of computing) {
    const index = steps.indexOf(step);
    const dot = make("circle", {
      cx: x.place(intensity), cy: y.place(rate), r: 3 + 9 * Math.sqrt(step.us / total),
      "data-step": index, style: `fill: ${op_color(step.op)}`,
    }, make("title", {}, `${index}: ${step.kernel} ${weight_of(step)}, ${flop_rate(rate)}, ` +
                         `${fixed(intensity, 2)} FLOP per byte`));
    dot.addEventListener("click", () => select(index));
    svg.append(dot);
  }
  find("roofline-chart").replaceChildren(svg);
}

function mark_in_roofline() {
  for (const dot of document.querySelectorAll("#roofline-chart circle")) {
    dot.classList.toggle("chosen", Number(dot.dataset.step) === selected);
  }
}

