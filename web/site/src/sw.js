// Keeps the site's files, so that it works offline after one visit. Models that a visitor downloads are
// not its business: tokamak-web keeps them. The build fills in the names.
const VERSION = "tokamak-__VERSION__";
const FILES = __FILES__;
// The modules for models that see or hear, and for memories: kept once they were needed.
const LATER = __LATER__;

addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(FILES)).then(() => skipWaiting()));
});

addEventListener("activate", (event) => {
  const old = (name) => name.startsWith("tokamak-") && name !== VERSION;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))))
      .then(() => clients.claim()),
  );
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

addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  const path = url.pathname.endsWith("/") ? `${url.pathname}index.html` : url.pathname;
  event.respondWith(
    caches.open(VERSION).then(async (cache) => {
      const kept = await cache.match(new URL(path, url.origin), { ignoreSearch: true });
      if (!kept) {
        const response = await fetch(request);
        const isKept = response.ok && LATER.some((name) => path.endsWith(`/${name}`));
        if (isKept) await cache.put(new URL(path, url.origin), response.clone());
        return response;
      }
      const range = request.headers.get("Range");
      return range ? partOf(kept, range) : kept;
    }),
  );
});
