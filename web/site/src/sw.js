// Keeps the site's files, so that what was used works offline. Models are not its business: tokamak-web keeps them, and so does the
// built-in one's page. The build fills in the names. All names below assets/ have a hash, so that a name is one content for good.
const PREFIX = "tokamak-";
const VERSION = `${PREFIX}__VERSION__`;
// The pages and their scripts, kept from the first visit on.
const FILES = __FILES__;
// Those that are kept once they were used or asked for: modules, documents.
const LATER = __LATER__;

const placeOf = (name) => new URL(name, registration.scope).href;
const requestOf = (name) => new Request(placeOf(name), { cache: name.startsWith("assets/") ? "force-cache" : "no-cache" });

addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(FILES.map(requestOf))));
});

// The version before this one stays: other tabs may still run it, and its files may be gone from the host.
addEventListener("activate", (event) => {
  const dropOld = async () => {
    const others = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== VERSION);
    await Promise.all(others.slice(0, -1).map((name) => caches.delete(name)));
    await clients.claim();
  };
  event.waitUntil(dropOld());
});

/** The modules that a model of that kind runs in, in a browser of that kind, or the files of a folder. */
function named({ module, folder }) {
  if (folder) return LATER.filter((name) => name.startsWith(folder));
  return LATER.filter((name) => name.endsWith(".wasm") && /tokamak_web/.test(name) &&
    name.includes("_whole") === module.isWhole && name.includes(".asyncify") === module.isTwin);
}

async function keep(names) {
  const cache = await caches.open(VERSION);
  for (const name of names) {
    if (!(await cache.match(placeOf(name)))) await cache.add(requestOf(name));
  }
}

addEventListener("message", (event) => {
  const { data, ports } = event;
  if (data?.kind === "take-over") void skipWaiting();
  if (data?.kind !== "keep") return;
  event.waitUntil(keep(named(data)).then(() => ports[0]?.postMessage(null), (error) => ports[0]?.postMessage(String(error))));
});

/** A part of a kept file, for readers that ask for ranges. */
async function partOf(response, range) {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? [];
  if (from === undefined) return response;
  const whole = await response.blob();
  const end = to ? Math.min(Number(to) + 1, whole.size) : whole.size;
  const part = whole.slice(Number(from), end);
  return new Response(part, {
    status: 206,
    headers: {
      "Content-Type": response.headers.get("Content-Type") ?? "application/octet-stream",
      "Content-Range": `bytes ${from}-${end - 1}/${whole.size}`,
      "Content-Length": String(part.size),
    },
  });
}

async function keptAs(place) {
  const found = await (await caches.open(VERSION)).match(place, { ignoreSearch: true });
  // A tab of the version before asks for its own files.
  return found ?? caches.match(place, { ignoreSearch: true });
}

async function answered(request, place) {
  const kept = await keptAs(place);
  const range = request.headers.get("Range");
  if (kept) return range ? partOf(kept, range) : kept;
  let response;
  try {
    response = await fetch(request);
  } catch (error) {
    // Offline, an address that was not visited before.
    const fallback = request.mode === "navigate" && (await keptAs(placeOf("404.html")));
    if (!fallback) throw error;
    return fallback;
  }
  if (response.ok && !range && LATER.some((name) => placeOf(name) === place)) {
    await (await caches.open(VERSION)).put(place, response.clone()).catch(() => undefined); // a full disk
  }
  return response;
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  url.search = url.hash = "";
  if (url.pathname.endsWith("/")) url.pathname += "index.html";
  event.respondWith(answered(request, url.href));
});
