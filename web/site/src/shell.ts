// The frame of all pages: the colour scheme, the service worker and new versions of the site, errors in sight.
import type { Look } from "tokamak-web";
import { h } from "./dom.ts";
import { keep } from "./kept.ts";

const SCHEME = "tokamak.scheme";

function changeScheme(): void {
  const { dataset } = document.documentElement;
  const isDark = (dataset["scheme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const next = isDark ? "light" : "dark";
  dataset["scheme"] = next;
  keep(SCHEME, next);
}

/** Gives the page's header its functions; `base` leads to the site's files ("./" or "../"). */
export function startPage(base = "./"): void {
  // A phone shows a part of the links.
  document.querySelector("header [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  document.querySelector(".scheme")?.addEventListener("click", changeScheme);
  if ("serviceWorker" in navigator && import.meta.env.PROD) {
    void registered(new URL(`${base}sw.js`, document.baseURI)).catch(() => undefined); // without it the page works online
  }
}

/** An open page goes on with the files of its own version; the next one waits until the visitor wants it. */
async function registered(script: URL): Promise<void> {
  const registration = await navigator.serviceWorker.register(script);
  const offer = () => {
    if (registration.waiting && navigator.serviceWorker.controller) offerVersion(registration.waiting);
  };
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", offer));
  offer();
}

function offerVersion(next: ServiceWorker): void {
  if (document.querySelector(".version")) return;
  const reload = h("button", { type: "button", class: "quiet" }, "Reload");
  reload.addEventListener("click", () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    next.postMessage({ kind: "take-over" });
  });
  document.body.append(h("p", { class: "version", role: "status" }, "There is a new version of this site. ", reload));
}

/** Has the service worker keep the files that are named so, of those that it does not keep by itself. */
export async function keepOffline(request: { module: { isWhole: boolean; isTwin: boolean } } | { folder: string }): Promise<void> {
  if (!("serviceWorker" in navigator)) throw new Error("This browser has no service worker, which would keep them.");
  const { active } = await navigator.serviceWorker.ready;
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise<string | null>((resolve) => (port1.onmessage = ({ data }: MessageEvent<string | null>) => resolve(data)));
  active?.postMessage({ kind: "keep", ...request }, [port2]);
  const failure = await answer;
  if (failure !== null) throw new Error(failure);
}

/** The same of the module that has opened a model; a later page tries again where that fails. */
export function keepModule({ waiting }: Look["adapter"], isWhole: boolean): void {
  void keepOffline({ module: { isWhole, isTwin: waiting === "asyncify" } }).catch(() => undefined);
}

/** Shows what went wrong, in a sentence, at the top of `place`. */
export function showError(place: HTMLElement, error: unknown): void {
  place.querySelector(":scope > .error")?.remove();
  const { message, code } = error as { message?: string; code?: string };
  const text = message ?? String(error);
  place.prepend(h("p", { class: "error", role: "alert" }, code ? `${text} (${code})` : text));
}
