// The memory of a page's Worker, asked for again and again through the debugging protocol.
import type { BrowserContext, Page } from "@playwright/test";

const ASK_MS = 50;

interface Usage {
  usedSize: number;
  /** Of array buffers. */
  backingStorageSize?: number;
}

/** `largest`: bytes, array buffers included, since it was last asked. */
export async function heapOfWorker(context: BrowserContext, page: Page): Promise<{ largest(): number; stop(): Promise<void> }> {
  const session = await context.newCDPSession(page);
  const workers: string[] = [];
  let largest = 0;
  session.on("Target.attachedToTarget", ({ sessionId }) => workers.push(sessionId));
  session.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { result } = JSON.parse(message) as { result?: Usage };
    if (result?.usedSize) largest = Math.max(largest, result.usedSize + (result.backingStorageSize ?? 0));
  });
  await session.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  const message = JSON.stringify({ id: 1, method: "Runtime.getHeapUsage" });
  // One that has ended answers no more.
  const ask = () => workers.forEach((sessionId) => session.send("Target.sendMessageToTarget", { message, sessionId }).catch(() => {}));
  const timer = setInterval(ask, ASK_MS);
  return {
    largest: () => {
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
