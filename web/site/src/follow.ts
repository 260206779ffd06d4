// Keeps the end of a text that grows in sight, as long as its reader is there: who scrolls up stays where they are.
import { h } from "./dom.ts";

/** Pixels from the end within which a reader is at the end. */
const NEAR = 60;

export interface Follower {
  /** A button that leads back to the end, in sight while the reader is somewhere else. */
  readonly button: HTMLElement;
  /** Goes to the end, from now on with it. */
  toEnd(): void;
  /** The text has grown. */
  grown(): void;
}

/** The text ends with `text`; `below` stays at the lower edge of the window. */
export function follower(text: HTMLElement, below: HTMLElement): Follower {
  let isFollowing = true;
  let lastY = scrollY;
  const missing = () => text.getBoundingClientRect().bottom - (innerHeight - below.offsetHeight);
  const scrollToEnd = () => {
    const by = missing();
    if (by > 0) scrollBy({ top: by, behavior: "instant" });
    lastY = scrollY;
  };
  const button = h("button", { type: "button", class: "quiet to-end", hidden: true }, "↓ To the end");
  const toEnd = () => {
    isFollowing = true;
    button.hidden = true;
    scrollToEnd();
  };
  button.addEventListener("click", toEnd);
  addEventListener("scroll", () => {
    if (scrollY < lastY - 2) isFollowing = missing() < NEAR;
    else if (missing() < NEAR) isFollowing = true;
    lastY = scrollY;
    button.hidden = isFollowing || missing() < NEAR;
  }, { passive: true });
  return { button, toEnd, grown: () => isFollowing && scrollToEnd() };
}
