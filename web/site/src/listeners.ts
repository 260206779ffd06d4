import type { Suggested } from "./model_list.ts";

/** Models that hear, for the pages that need one. */
export const LISTENERS: Suggested[] = [
  { name: "UsefulSensors/moonshine-tiny", size: 108e6, bits: 32, about: "English, quick" },
  { name: "openai/whisper-tiny", size: 151e6, bits: 32, about: "many languages" },
  { name: "openai/whisper-base", size: 290e6, bits: 32, about: "many languages" },
];
