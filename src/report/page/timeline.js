"use strict";
// The step over time: an axis, every dispatch, the layers below; and the dispatch that is chosen.
let selected = 0;

/** The first of 1, 2, 5, 10, 20, ... that is not below. */
function round_up(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= value * 0.999);
}

/** Something that begins and ends at shares of the step. */
function placed(start, end, attributes, text) {
  const element = make("span", attributes, text);
  element.style.left = `${100 * start}%`;
  element.style.width = `${100 * (end - start)}%`;
  return element;
}

function draw_axis(zoom, whole) {
  const every = round_up(whole / (8 * zoom));
  const ticks = [];
  for (let i = 0; i * every < whole; ++i) {
    const start = i * every / whole, end = Math.min((i + 1) * every / whole, 1);
    const has_room = end - start > 0.6 * every / whole;  // the last one may end at once
    const text = i === 0 ? "0" : has_room ? microseconds(i * every).replace(/\.0+ /, " ") : "";
    ticks.push(placed(start, end, {}, text));
  }
  find("axis").replaceChildren(...ticks);
}

/** Neighbours of one layer are one mark. */
function draw_layers(zoom) {
  const marks = [];
  let at = 0;
  for (const step of steps) {
    const last = marks[marks.length - 1];
    if (last && last.layer === step.layer) last.end = at + step.us;
    else marks.push({layer: step.layer, start: at, end: at + step.us});
    at += step.us;
  }
  find("layers").replaceChildren(...marks.filter((mark) => mark.layer !== null).map((mark) => {
    const room = (mark.end - mark.start) / total * zoom;
    const text = room > 0.06 ? `layer ${mark.layer}` : room > 0.02 ? `${mark.layer}` : "";
    return placed(mark.start / total, mark.end / total,
      {title: `layer ${mark.layer}: ${microseconds(mark.end - mark.start)}`}, text);
  }));
}

/** Runs of dispatches of one layer; those of none stand by themselves. */
function lanes() {
  const found = [];
  steps.forEach((step, index) => {
    const last = found[found.length - 1];
    if (last && last.layer === step.layer) last.indices.push(index);
    else found.push({layer: step.layer, indices: [index]});
  });
  return found;
}
const time_in = (lane) => lane.indices.reduce((sum, index) => sum + steps[index].us, 0);
const layer_count = new Set(steps.map((step) => step.layer).filter((layer) => layer !== null)).size;
/** More lanes than these do not fit on a screen. */
const most_lanes = 32;

/** A dispatch, `whole` of whose time would be as wide as the track. */
function dispatch(index, whole, zoom) {
  const step = steps[index];
  const share = whole > 0 ? step.us / whole : 0;
  const by_floor = find("color").value === "floor";
  const before = find("before").checked ? origins(index) : null;
  const text = share * zoom > 0.06 ? step.op.replaceAll("_", " ") : "";
  const inside = before
    ? before.map((op) => {
        const room = share * zoom / before.length;
        const own = make("span", {class: "origin-op"}, room > 0.03 ? op.replaceAll("_", " ") : "");
        own.style.background = op_color(op);
        return own;
      })
    : [text];
  const floor = make("span", {class: "floor-line"});
  floor.style.width = `${100 * Math.min(step.share, 1)}%`;
  const part = make("div", {
    role: "option", id: `step-${index}`, title: `${step.kernel} ${weight_of(step)}: ${microseconds(step.us)}`,
    "aria-label": `${index}: ${step.kernel}, ${microseconds(step.us)}`,
    "aria-selected": index === selected,
  }, ...inside, floor);
  part.style.width = `${100 * share}%`;
  part.style.background = before ? "var(--line)" : by_floor ? floor_color(step.share) : op_color(step.op);
  part.addEventListener("click", () => select(index));
  return part;
}

/** The roofline as a second bar of the same scale. */
function draw_floors() {
  const floor = steps.reduce((sum, step) => sum + step.floor, 0);
  find("floors").replaceChildren(...steps.map((step) => {
    const part = make("span");
    part.style.width = `${100 * step.floor / Math.max(total, floor)}%`;
    part.style.background = op_color(step.op);
    return part;
  }));
  find("floors-about").textContent = floor <= total
    ? `The second bar is the roofline: ${microseconds(floor)}, ${percent(floor / total)} of the time.`
    : `At the bandwidth of the device's memory it would take ${microseconds(floor)}: its caches give more than that.`;
}

function draw_legend(by_floor) {
  const shown = find("before").checked ? all_ops.filter((op) => steps.some((_, index) => origins(index).includes(op))) : ops;
  const entries = by_floor && !find("before").checked
    ? [1, 0.75, 0.5, 0.25, 0].map((share) => [floor_color(share), `${100 * share} % of roofline`])
    : shown.map((op) => [op_color(op), find("before").checked
      ? `${op.replaceAll("_", " ")} ${steps.reduce((sum, _, index) => sum + origins(index).filter((one) => one === op).length, 0)} ×`
      : `${op} ${percent(time_of(op) / total)}`]);
  find("legend").replaceChildren(...entries.map(([color, text]) => {
    const mark = make("span");
    mark.style.background = color;
    return make("li", {}, mark, text);
  }));
}

function draw_timeline() {
  const is_lanes = find("rows").value === "layers";
  const zoom = 2 ** Number(find("zoom").value);
  const track = find("track");
  const rows = lanes();
  const whole = is_lanes ? Math.max(...rows.map(time_in)) : total;
  for (const part of [track, find("axis"), find("layers"), find("floors")]) {
    part.style.width = `calc(${100 * zoom}% - 6px)`;
  }
  for (const part of [find("axis"), track]) part.classList.toggle("lanes", is_lanes);
  for (const id of ["layers", "floors", "floors-about"]) find(id).hidden = is_lanes;
  draw_axis(zoom, whole);
  draw_layers(zoom);
  draw_floors();
  const name = ({layer}) => (layer === null ? "" : `layer ${layer}`);
  track.replaceChildren(...(is_lanes
    ? rows.map((row) => make("div", {role: "group", class: "lane", "aria-label": name(row) || "no layer", "data-name": name(row)},
        ...row.indices.map((index) => dispatch(index, whole, zoom))))
    : steps.map((_, index) => dispatch(index, whole, zoom))));
  draw_legend(find("color").value === "floor");
  track.setAttribute("aria-activedescendant", `step-${selected}`);
}

const list = (texts) => make("ul", {}, ...texts.map((text) => make("li", {}, text)));

function select(index, scroll = true) {
  selected = Math.max(0, Math.min(steps.length - 1, index));
  const step = steps[selected];
  for (const part of find("track").querySelectorAll("[role=option]")) {
    part.setAttribute("aria-selected", part.id === `step-${selected}`);
  }
  find("track").setAttribute("aria-activedescendant", `step-${selected}`);
  for (const row of find("step-table").tBodies[0].rows) {
    row.setAttribute("aria-selected", row.sectionRowIndex === selected);
  }
  const source = step.source < 0 ? "none" : make("a", {href: `#source-${step.source}`}, "WGSL");
  if (step.source >= 0) {
    source.addEventListener("click", () => { find(`source-${step.source}`).open = true; });
  }
  const facts = [
    ["time", `${microseconds(step.us)}, ${percent(step.us / total)} of the step`],
    ["layer", step.layer === null ? "none" : `${step.layer}`],
    ["weights", step.weights.length ? list(step.weights) : "none"],
    ["roofline", step.share <= 1
      ? `${microseconds(step.floor)}, reached to ${percent(step.share)}; bound by ${step.bound}`
      : `${microseconds(step.floor)} at the bandwidth of memory; caches give more`],
    ["memory traffic", `${bytes(step.bytes)}, ${fixed(step.moved, 1)} GB/s`],
    ["computed", `${flops(step.flops)}, ${flop_rate(step.computed * 1e12)}`],
    ["problem", make("code", {}, arrow(step.problem))],
    ["workgroups", step.grid.join(" × ")],
    ["passed over", step.passed_over.length ? list(step.passed_over) : "nothing"],
    ["source", source],
  ];
  find("detail").replaceChildren(
    make("h3", {}, `${selected}: ${step.kernel}`),
    make("dl", {}, ...facts.flatMap(([name, value]) =>
      [make("dt", {}, name), make("dd", {}, value)])));
  mark_in_roofline();
  if (scroll) {
    find(`step-${selected}`).scrollIntoView({block: "nearest", inline: "nearest"});
  }
}

/** The first dispatch of the layer after the chosen one's, or before it. */
function next_layer(by) {
  let index = selected;
  const leave = () => {
    const {layer} = steps[index];
    while (index in steps && steps[index].layer === layer) index += by;
  };
  leave();
  if (!(index in steps)) return selected;
  if (by > 0) return index;
  leave();
  return index + 1;
}

function on_key(event) {
  const moves = event.shiftKey ? {ArrowRight: next_layer(1), ArrowLeft: next_layer(-1)} : {ArrowRight: selected + 1, ArrowDown: selected + 1, ArrowLeft: selected - 1,
                 ArrowUp: selected - 1, Home: 0, End: steps.length - 1};
  if (!(event.key in moves)) return;
  event.preventDefault();
  select(moves[event.key]);
}

