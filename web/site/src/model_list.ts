// The models to choose from: those that the page suggests and those that are kept in this browser, with what they take here.
import { type Adapter, type StoredModel, fitOf, models } from "tokamak-web";
import { h } from "./dom.ts";
import { boundText, isMeasured } from "./measured.ts";
import { bytes } from "./numbers.ts";

export interface Suggested {
  name: string;
  /** Bytes of its files, and bits of a weight. */
  size: number;
  bits: number;
  about: string;
  /** Whether it writes texts, so that its speed is tokens. */
  writes?: boolean;
}

export interface ModelList {
  readonly element: HTMLElement;
  /** Reads again what is kept; `adapter`: the device of the model that is open. */
  refresh(adapter?: Adapter): Promise<void>;
}

const FITS = { fits: "fits this device", tight: "may be too much for this device", "too-large": "too large for this device" };

/** "1.5 GB, 16 bits, many languages; fits this device; at most 67.2 tok/s on a GPU" */
export function cardText({ size, bits, about, writes }: Suggested, adapter?: Adapter): string {
  const parts = [`${bytes(size)}, ${bits} bits, ${about}`, adapter && FITS[fitOf(size, adapter)], writes && boundText(size, adapter)];
  return parts.filter(Boolean).join("; ");
}

/** `choose` opens the model of that name. */
export function modelList(suggested: Suggested[], choose: (name: string) => void, failed: (error: unknown) => void): ModelList {
  const list = h("ul", { class: "model-cards", "aria-label": "Models to choose from" });
  const used = h("p", { class: "hint" });
  let device: Adapter | undefined;

  function card(name: string, about: string, kept?: StoredModel): HTMLElement {
    const open = h("button", { type: "button", class: "quiet", onclick: () => choose(name) }, h("strong", {}, name), h("span", {}, about));
    const bin = kept && h("button", { type: "button", class: "quiet", "aria-label": `Delete ${name} from this browser` }, "Delete");
    bin?.addEventListener("click", () => void models.remove(name).then(() => refresh(), failed));
    return h("li", {}, open, bin);
  }

  async function refresh(adapter?: Adapter): Promise<void> {
    const kept = await models.list().catch(() => []);
    const byName = new Map(kept.map((one) => [one.name, one]));
    const inBrowser = ({ size, complete }: StoredModel) => `${complete ? "kept" : "partly kept"} in this browser, ${bytes(size)}`;
    device = adapter ?? device;
    const own = suggested.map((one) => {
      const stored = byName.get(one.name);
      const about = cardText(one, device);
      return card(one.name, stored ? `${about}; ${inBrowser(stored)}` : about, stored);
    });
    // Models of this site's own address are the built-in one, which is in the list.
    const others = kept.filter(({ name }) => !suggested.some((one) => one.name === name) && !name.startsWith(new URL("./models/", document.baseURI).href));
    list.replaceChildren(...own, ...others.map((one) => card(one.name, inBrowser(one), one)));
    const { used: taken, quota } = await models.usage();
    used.textContent = quota > 0 ? `This site keeps ${bytes(taken)} in this browser, of ${bytes(quota)} that it may. ` : "";
    if (!isMeasured(device) && suggested.some(({ writes }) => writes)) used.append("How fast each may write here is known once ", h("a", { href: "./bench.html" }, "Bench"), " has measured this device.");
  }
  return { element: h("div", {}, list, used), refresh };
}
