// A profile drawn by the scripts of the page that `tokamak profile --html` writes.
import { draw, markup } from "virtual:profile-page";
import "../../../../src/report/page/profile.css";
import { byId, h } from "../dom.ts";

export type Drawn = ReturnType<typeof draw>;

/** The reader's settings, which a new measurement leaves as they are. */
interface Kept {
  selected: number;
  color: string;
  rows: string;
  before: boolean;
  zoom: string;
  changed: boolean;
  hasFocus: boolean;
}

function kept(drawn: Drawn): Kept {
  return {
    selected: drawn.selected(),
    color: byId<HTMLSelectElement>("color").value,
    rows: byId<HTMLSelectElement>("rows").value,
    before: byId<HTMLInputElement>("before").checked,
    zoom: byId<HTMLInputElement>("zoom").value,
    changed: byId<HTMLInputElement>("changed").checked,
    hasFocus: document.activeElement === byId("track"),
  };
}

function restore({ selected, color, rows, before, zoom, changed, hasFocus }: Kept, drawn: Drawn): void {
  const set = (id: string, event: string, change: (element: HTMLInputElement) => void) => {
    const element = byId<HTMLInputElement>(id);
    change(element);
    element.dispatchEvent(new Event(event));
  };
  set("color", "change", (element) => (element.value = color));
  set("rows", "change", (element) => (element.value = rows));
  set("before", "change", (element) => (element.checked = before));
  set("zoom", "input", (element) => (element.value = zoom));
  set("changed", "change", (element) => (element.checked = changed));
  drawn.select(selected);
  if (hasFocus) byId("track").focus();
}

/** Has the heading of the chosen dispatch lead to its kernel's text, whenever the scripts write it anew; `chosen` gets its number. */
function linkKernels(drawn: Drawn, chosen: (index: number) => void): void {
  const detail = byId("detail");
  const link = () => {
    chosen(drawn.selected());
    const heading = detail.querySelector("h3");
    const kernel = drawn.steps[drawn.selected()]?.kernel;
    if (!heading || !kernel?.includes(".wgsl") || detail.querySelector(".kernel-link")) return;
    heading.after(h("p", { class: "kernel-link" }, h("a", { href: `./kernels.html#${kernel}` }, "The text of this kernel")));
  };
  new MutationObserver(link).observe(detail, { childList: true });
  link();
}

/** Draws into `place`, in place of what was drawn there `before`. `chosen` gets the number of each dispatch that is chosen. */
export function drawProfile(place: HTMLElement, data: object, before: Drawn | null, chosen: (index: number) => void): Drawn {
  const settings = before && kept(before);
  const { title } = document;
  const scroll = [scrollX, scrollY] as const;
  // The markup is the repository's own and made at build time; data comes in as text.
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  place.replaceChildren(
    h("script", { type: "application/json", id: "data" }, JSON.stringify(data)),
    ...parsed.body.childNodes,
  );
  const drawn = draw();
  document.title = title;
  linkKernels(drawn, chosen);
  if (settings) restore(settings, drawn);
  // Without a measurement before, the slowest dispatch is chosen, but the page stays where it is.
  scrollTo(...scroll);
  return drawn;
}
