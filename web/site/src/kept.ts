// The texts that the browser keeps for this site, as far as it does: reading and writing may throw where a visitor or a policy forbids it, and
// writing where there is no more room. Then a page works, and forgets.

type Kind = "local" | "session";

function storage(kind: Kind): Storage | null {
  try {
    return (kind === "local" ? globalThis.localStorage : globalThis.sessionStorage) ?? null;
  } catch {
    return null;
  }
}

export function kept(key: string, kind: Kind = "local"): string | null {
  try {
    return storage(kind)?.getItem(key) ?? null;
  } catch {
    return null;
  }
}

/** False where it is not kept. */
export function keep(key: string, value: string, kind: Kind = "local"): boolean {
  try {
    const place = storage(kind);
    place?.setItem(key, value);
    return place !== null;
  } catch {
    return false;
  }
}

export function forget(key: string, kind: Kind = "local"): void {
  try {
    storage(kind)?.removeItem(key);
  } catch {
    // There was nothing to forget.
  }
}

export function keptKeys(): string[] {
  const place = storage("local");
  return place ? Array.from({ length: place.length }, (_, at) => place.key(at)).filter((key) => key !== null) : [];
}
