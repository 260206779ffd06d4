/** Models that hear, for the pages that need one. */
export const LISTENERS = [
  { name: "UsefulSensors/moonshine-tiny", about: "108 MB, English, quick" },
  { name: "openai/whisper-tiny", about: "151 MB, many languages" },
  { name: "openai/whisper-base", about: "290 MB, many languages" },
];
