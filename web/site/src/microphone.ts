// The microphone as samples of one channel, as they are heard.

export interface Microphone {
  close(): Promise<void>;
}

/** `take` gets samples and their number in a second. Fails with a sentence where the visitor or the browser refuses. */
export async function openMicrophone(take: (samples: Float32Array, rate: number) => void): Promise<Microphone> {
  let stream: MediaStream;
  try {
    // Without the echo of what the page itself plays, as far as the browser can.
    stream = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true } });
  } catch (error) {
    throw new Error(`The microphone cannot be used: ${(error as Error).message}`);
  }
  const context = new AudioContext();
  const close = async () => {
    for (const track of stream.getTracks()) track.stop();
    await context.close();
  };
  try {
    await context.audioWorklet.addModule(new URL("./microphone.worklet.js", import.meta.url));
    const node = new AudioWorkletNode(context, "microphone", { numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit" });
    node.port.onmessage = ({ data }: MessageEvent<Float32Array>) => take(data, context.sampleRate);
    context.createMediaStreamSource(stream).connect(node);
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
}
