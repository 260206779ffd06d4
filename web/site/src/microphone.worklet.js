// On the thread of the browser's that has the sound: hands on what the microphone hears, in parts of some milliseconds.
const MOST = 1024;

class Microphone extends AudioWorkletProcessor {
  #parts = [];
  #count = 0;

  process([[channel] = []]) {
    if (!channel) return true;
    this.#parts.push(channel.slice());
    this.#count += channel.length;
    if (this.#count >= MOST) {
      const samples = new Float32Array(this.#count);
      let at = 0;
      for (const part of this.#parts) {
        samples.set(part, at);
        at += part.length;
      }
      this.port.postMessage(samples, [samples.buffer]);
      this.#parts = [];
      this.#count = 0;
    }
    return true;
  }
}

registerProcessor("microphone", Microphone);
