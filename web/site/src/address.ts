// The selection of a page in its address, after "#": a name, values, or both ("#linear.wgsl.matvec&device=4"), so that it can be sent.

interface Selection {
  name: string;
  values: URLSearchParams;
}

export function parsedHash(hash: string): Selection {
  const parts = hash.replace(/^#/, "").split("&");
  const name = parts[0]?.includes("=") ? "" : (parts.shift() ?? "");
  return { name, values: new URLSearchParams(parts.join("&")) };
}

export function hashOf({ name, values }: Selection): string {
  const parts = [name, values.toString()].filter((part) => part !== "");
  return parts.length > 0 ? `#${parts.join("&")}` : "";
}

/** The selection that the address asks for. */
export const selection = (): Selection => parsedHash(location.hash);

/** Changes the selection of the page that `element` is on; while another page is shown, nothing. An empty value is left out. */
export function select(element: Element, { name, ...values }: { name?: string; [value: string]: string | number | undefined }): void {
  if (!element.isConnected) return;
  const now = selection();
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined || value === "") now.values.delete(key);
    else now.values.set(key, String(value));
  }
  const hash = hashOf({ ...now, ...(name !== undefined && { name }) });
  if (hash !== location.hash) history.replaceState(history.state, "", `${location.pathname}${location.search}${hash}`);
}
