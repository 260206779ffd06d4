// The images of conversations: in the browser's database, since localStorage is too small for them. Where there is none
// (private windows) they end with the tab.

const STORE = "images";
const held = new Map<string, Blob>();

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

let opened: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("tokamak.chat", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    settled(request).then(resolve, reject);
  });
  return opened;
}

async function store(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  return (await database()).transaction(STORE, mode).objectStore(STORE);
}

/** By what number it is found again. */
export async function keepImage(image: Blob): Promise<string> {
  const id = crypto.randomUUID();
  held.set(id, image);
  await store("readwrite").then((own) => settled(own.put(image, id))).catch(() => undefined);
  return id;
}

/** Nothing where it was kept by a tab that could not, or the browser has removed it. */
export async function imageOf(id: string): Promise<Blob | undefined> {
  const own = held.get(id);
  if (own) return own;
  const found = await store("readonly").then((kept) => settled<Blob | undefined>(kept.get(id))).catch(() => undefined);
  if (found) held.set(id, found);
  return found;
}

export async function forgetImages(ids: string[]): Promise<void> {
  for (const id of ids) held.delete(id);
  if (ids.length === 0) return;
  await store("readwrite").then((own) => Promise.all(ids.map((id) => settled(own.delete(id))))).catch(() => undefined);
}
