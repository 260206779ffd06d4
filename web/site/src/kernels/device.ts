// For which device the kernels are shown: the visitor's own, or one that is assumed.
import type { AssumedDevice } from "tokamak-web";
import { select, selection } from "../address.ts";
import { h } from "../dom.ts";

const F16 = "shader-f16", SUBGROUPS = "subgroups", DOT4 = "packed_4x8_integer_dot_product";

const DEVICES: { title: string; device?: AssumedDevice }[] = [
  { title: "this one" },
  { title: "no features: every WebGPU device", device: { features: [] } },
  { title: "f16, dot4: Firefox on most GPUs", device: { features: [F16, DOT4] } },
  { title: "subgroups of 32, dot4", device: { features: [SUBGROUPS, DOT4] } },
  { title: "f16, subgroups of 32, dot4: Chrome on NVIDIA, Apple", device: { features: [F16, SUBGROUPS, DOT4] } },
  { title: "f16, subgroups of 64, dot4: Chrome on AMD", device: { features: [F16, SUBGROUPS, DOT4], subgroupSize: 64 } },
];

/** The one that stands for a visitor's whose browser has no GPU. */
const COMMON = 4;

export interface DeviceChoice {
  readonly element: HTMLElement;
  device(): AssumedDevice | undefined;
  /** Chooses a common device in this one's place, which has no GPU; false where another one is chosen already. */
  assume(): boolean;
}

export function deviceChoice(changed: () => void): DeviceChoice {
  const choice = h("select", { id: "for-device" }, ...DEVICES.map(({ title }, index) => h("option", { value: index }, title)));
  const asked = selection().values.get("device");
  if (asked !== null && asked in DEVICES) choice.value = asked;
  choice.addEventListener("input", () => {
    select(choice, { device: choice.value === "0" ? undefined : choice.value });
    changed();
  });
  return {
    element: h("div", { class: "row" }, h("label", { for: "for-device" }, "Device"), choice),
    device: () => DEVICES[Number(choice.value)]?.device,
    assume: () => {
      if (choice.value !== "0") return false;
      choice.value = String(COMMON);
      return true;
    },
  };
}
