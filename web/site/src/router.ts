// Links to another page of the site show it in this document: the open model, its Worker and what the pages show stay. Where
// that cannot be, since the page is of another version of the site or not to be had, the link leads there as any other.
import { type View, currentView, fileOf, setCurrentView, viewOf } from "./view.ts";

/** The script of each page, which runs once: when the page is shown for the first time. */
const SCRIPTS: Record<string, () => Promise<unknown>> = {
  "index.html": () => import("./landing.ts"),
  "chat.html": () => import("./chat.ts"),
  "listen.html": () => import("./listen.ts"),
  "memory.html": () => import("./memory.ts"),
  "timeline.html": () => import("./timeline.ts"),
  "kernels.html": () => import("./kernels.ts"),
  "inspect.html": () => import("./inspect.ts"),
  "validate.html": () => import("./validate.ts"),
  "bench.html": () => import("./bench.ts"),
};
/** The parameter that names the model of a page. */
const OWN = "model";

const views = new Map<string, View>();
/** This script's name has a hash of all pages' scripts: a page that has it is of the same version. */
const VERSION = new URL(import.meta.url).pathname.split("/").at(-1)!;

async function fetched(url: URL): Promise<View> {
  const response = await fetch(new URL(url.pathname, url));
  const text = await response.text();
  if (!response.ok || !text.includes(VERSION)) throw new Error(`${url.pathname} is not of this version.`);
  return viewOf(new DOMParser().parseFromString(text, "text/html"), fileOf(url));
}

/** The address of a page that a link leads to: as it was left, else with what this document was asked for. */
function addressOf(url: URL, known?: View): URL {
  if (known?.address && url.hash === "") return new URL(known.address);
  const asked = new URLSearchParams(location.search);
  asked.delete(OWN);
  const plain = asked.toString().replace(/=(?=&|$)/g, "");
  return new URL(`${url.pathname}${plain && `?${plain}`}${url.hash}`, url);
}

function replaceShown(view: View): void {
  const before = currentView();
  before.scrollY = scrollY;
  for (const listener of before.hidden) listener();
  setCurrentView(view);
  before.main.replaceWith(view.main);
  document.title = view.title;
  document.body.className = view.bodyClass;
  for (const link of document.querySelectorAll<HTMLAnchorElement>("header nav a")) {
    const isCurrent = fileOf(new URL(link.href)) === view.file;
    if (isCurrent) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (isCurrent) link.scrollIntoView({ block: "nearest", inline: "center" });
  }
  document.querySelector(".skip")?.setAttribute("href", view.file === "chat.html" ? "#message" : "#main");
}

/** `isBack`: the browser has gone through its history, and the address is the page's already. */
async function show(url: URL, isBack: boolean): Promise<void> {
  const file = fileOf(url);
  const before = currentView();
  if (file === before.file) return;
  const known = views.get(file);
  const view = known ?? (await fetched(url));
  if (!isBack) {
    before.address = location.href;
    history.scrollRestoration = "manual";
    history.pushState(null, "", addressOf(url, known));
  }
  replaceShown(view);
  views.set(file, view);
  if (known) for (const listener of view.shown) listener();
  else await SCRIPTS[file]?.();
  scrollTo({ top: view.scrollY, behavior: "instant" });
  view.main.tabIndex = -1;
  if (!view.main.contains(document.activeElement)) view.main.focus({ preventScroll: true });
}

let showing = Promise.resolve();

/** One after the other: a page's script runs while the page is shown. */
function next(url: URL, isBack: boolean): void {
  showing = showing.then(() => show(url, isBack)).catch(() => (isBack ? location.reload() : location.assign(url)));
}

function followed(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.("a");
  if (!link?.href || link.target || link.download || event.defaultPrevented) return;
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href);
  // A link with parameters asks for another device or another way: that takes a document of its own.
  const isPage = url.origin === location.origin && new URL(".", url).href === new URL(".", location.href).href && fileOf(url) in SCRIPTS;
  if (!isPage || url.search !== "" || fileOf(url) === fileOf(location)) return;
  event.preventDefault();
  next(url, false);
}

export function startRouter(): void {
  const first = currentView();
  if (!(first.file in SCRIPTS)) return;
  views.set(first.file, first);
  document.addEventListener("click", followed);
  addEventListener("popstate", () => next(new URL(location.href), true));
}
