// The images that go with the next message: chosen, dropped or pasted.
import { h } from "./dom.ts";

export interface Attachments {
  /** The chosen ones. */
  readonly list: HTMLElement;
  /** An input for files and its label. */
  readonly button: HTMLElement;
  /** Whether the open model sees. */
  allow(is: boolean): void;
  /** Takes these files if they are images and the model sees. */
  add(files: File[]): boolean;
  /** Those of a message that is edited. */
  restore(images: Blob[]): void;
  /** Those that go with a message that is sent now. */
  take(): Blob[];
}

/** Makes the element that shows an image; its address ends with the element's use. */
export function shownImage(image: Blob, name: string): HTMLImageElement {
  const url = URL.createObjectURL(image);
  const element = h("img", { src: url, alt: name });
  const done = () => URL.revokeObjectURL(url);
  element.addEventListener("load", done);
  element.addEventListener("error", done);
  return element;
}

export function attachments(): Attachments {
  let chosen: { image: Blob; name: string }[] = [];
  let isAllowed = false;
  const input = h("input", { type: "file", id: "images", accept: "image/*", multiple: true, class: "visually-hidden" });
  const button = h("span", { hidden: true }, h("label", { class: "button quiet", for: "images" }, "Image …"), input);
  const list = h("ul", { class: "attached", "aria-label": "Images for the next message", hidden: true });

  const draw = () => {
    list.hidden = chosen.length === 0;
    list.replaceChildren(
      ...chosen.map((one) => {
        const bin = h("button", { type: "button", class: "quiet", "aria-label": `Leave out ${one.name}` }, "×");
        bin.addEventListener("click", () => {
          chosen = chosen.filter((other) => other !== one);
          draw();
          input.focus();
        });
        return h("li", {}, shownImage(one.image, one.name), bin);
      }),
    );
  };
  const add = (files: File[]) => {
    if (!isAllowed || files.length === 0 || !files.every(({ type }) => type.startsWith("image/"))) return false;
    chosen = [...chosen, ...files.map((image) => ({ image, name: image.name }))];
    draw();
    return true;
  };
  input.addEventListener("change", () => {
    add([...(input.files ?? [])]);
    input.value = ""; // the same file may be chosen again
  });
  return {
    list,
    button,
    add,
    allow: (is) => {
      isAllowed = is;
      button.hidden = !is;
      if (!is) chosen = [];
      draw();
    },
    restore: (images) => {
      chosen = isAllowed ? images.map((image, at) => ({ image, name: `image ${at + 1}` })) : [];
      draw();
    },
    take: () => {
      const taken = chosen.map(({ image }) => image);
      chosen = [];
      draw();
      return taken;
    },
  };
}
