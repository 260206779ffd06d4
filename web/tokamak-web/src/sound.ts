// Recordings as the module takes them: one channel of samples at 16 kHz.
import type { Sound } from "./api.ts";
import { TokamakError } from "./errors.ts";
import { RATE } from "./resampler.ts";

/** The file's samples, which the browser decodes and resamples; channels are averaged. */
async function decoded(file: Blob): Promise<Float32Array> {
  if (typeof OfflineAudioContext === "undefined") {
    throw new TokamakError("unsupported", "Files of sound are decoded on a page only; give samples of 16 kHz as a Float32Array.");
  }
  let buffer: AudioBuffer;
  try {
    buffer = await new OfflineAudioContext(1, 1, RATE).decodeAudioData(await file.arrayBuffer());
  } catch (error) {
    throw new TokamakError("invalid-input", `The browser cannot read the recording: ${(error as Error).message}`);
  }
  const samples = new Float32Array(buffer.length);
  for (let channel = 0; channel < buffer.numberOfChannels; channel += 1) {
    const own = buffer.getChannelData(channel);
    for (let i = 0; i < samples.length; i += 1) samples[i]! += own[i]! / buffer.numberOfChannels;
  }
  return samples;
}

/** Samples are taken as they are. */
export function samplesOf(sound: Sound): Promise<Float32Array> {
  return sound instanceof Float32Array ? Promise.resolve(sound) : decoded(sound);
}
