// The memory of a page's Worker, asked for again and again through the debugging protocol.
import type { BrowserContext, Page } from "@playwright/test";

const ASK_MS = 50;
const ENDED = "The page has no Worker any more whose memory could be asked for.";

interface Usage {
  usedSize: number;
  /** The size of array buffers. */
  backingStorageSize?: number;
}

/** `largest`: bytes, array buffers included, since it was last asked, now included; an error once every Worker has ended. */
export async function heapOfWorker(
  context: BrowserContext, page: Page,
): Promise<{ largest(): Promise<number>; stop(): Promise<void> }> {
  const session = await context.newCDPSession(page);
  const workers = new Set<string>();
  let largest = 0, asked = 0;
  const waiting = new Map<number, { answered: () => void; ended: (error: Error) => void }>();
  session.on("Target.attachedToTarget", ({ sessionId }) => workers.add(sessionId));
  session.on("Target.detachedFromTarget", ({ sessionId }) => {
    workers.delete(sessionId);
    if (workers.size > 0) return;
    for (const { ended } of waiting.values()) ended(new Error(ENDED));
    waiting.clear();
  });
  session.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { id, result } = JSON.parse(message) as { id: number; result?: Usage };
    if (!result?.usedSize) return;
    largest = Math.max(largest, result.usedSize + (result.backingStorageSize ?? 0));
    waiting.get(id)?.answered();
    waiting.delete(id);
  });
  await session.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  const ask = (id: number) => {
    const message = JSON.stringify({ id, method: "Runtime.getHeapUsage" });
    // One that has ended answers no more.
    for (const sessionId of workers) session.send("Target.sendMessageToTarget", { message, sessionId }).catch(() => {});
  };
  const timer = setInterval(() => ask(++asked), ASK_MS);
  return {
    largest: async () => {
      // A Worker that is busy answers after it.
      if (workers.size === 0) throw new Error(ENDED);
      const id = ++asked;
      await new Promise<void>((answered, ended) => {
        waiting.set(id, { answered, ended });
        ask(id);
      });
      const bytes = largest;
      largest = 0;
      return bytes;
    },
    stop: async () => {
      clearInterval(timer);
      await session.detach();
    },
  };
}
