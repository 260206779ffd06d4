// The models to choose from: those that the page suggests and those that are kept in this browser, with what they take here.
import { type StoredModel, models } from "tokamak-web";
import { h } from "./dom.ts";
import { bytes } from "./numbers.ts";

export interface Suggested {
  name: string;
  /** The words beside it: its size first. */
  about: string;
}

export interface ModelList {
  readonly element: HTMLElement;
  /** Reads again what is kept. */
  refresh(): Promise<void>;
}

/** `choose` opens the model of that name. */
export function modelList(suggested: Suggested[], choose: (name: string) => void, failed: (error: unknown) => void): ModelList {
  const list = h("ul", { class: "model-cards", "aria-label": "Models to choose from" });
  const used = h("p", { class: "hint" });

  function card(name: string, about: string, kept?: StoredModel): HTMLElement {
    const open = h("button", { type: "button", class: "quiet", onclick: () => choose(name) }, h("strong", {}, name), h("span", {}, about));
    const bin = kept && h("button", { type: "button", class: "quiet", "aria-label": `Delete ${name} from this browser` }, "Delete");
    bin?.addEventListener("click", () => void models.remove(name).then(refresh, failed));
    return h("li", {}, open, bin);
  }

  async function refresh(): Promise<void> {
    const kept = await models.list().catch(() => []);
    const byName = new Map(kept.map((one) => [one.name, one]));
    const inBrowser = ({ size, complete }: StoredModel) => `${complete ? "kept" : "partly kept"} in this browser, ${bytes(size)}`;
    const own = suggested.map(({ name, about }) => {
      const stored = byName.get(name);
      return card(name, stored ? `${about}; ${inBrowser(stored)}` : about, stored);
    });
    // Models of this site's own address are the built-in one, which is in the list.
    const others = kept.filter(({ name }) => !suggested.some((one) => one.name === name) && !name.startsWith(new URL("./models/", document.baseURI).href));
    list.replaceChildren(...own, ...others.map((one) => card(one.name, inBrowser(one), one)));
    const { used: taken, quota } = await models.usage();
    used.textContent = quota > 0 ? `This site keeps ${bytes(taken)} in this browser, of ${bytes(quota)} that it may.` : "";
  }
  return { element: h("div", {}, list, used), refresh };
}
