// Keeps the page and the package's files, so that both are there without a network. Other requests pass: the package keeps models by
// itself. Another version of the files needs another name here.
const CACHE = "tokamak-example-1";
const PACKAGE = new URL("./node_modules/tokamak-web/", location.href).href;

self.addEventListener("install", (event) => event.waitUntil(caches.open(CACHE).then((cache) => cache.add("./index.html"))));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { mode, url } = event.request;
  if (mode === "navigate") event.respondWith(kept("./index.html"));
  else if (url.startsWith(PACKAGE)) event.respondWith(kept(event.request));
});

async function kept(request) {
  const cache = await caches.open(CACHE);
  const found = await cache.match(request);
  if (found) return found;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}
