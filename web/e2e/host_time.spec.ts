// The time that a step of decoding takes beside the device and the browser's own calls: on the software driver, whose
// kernels take a minute to compile. Without HOST_TIME it is left out.
import { expect, test } from "./pages.ts";

/** Milliseconds that the module, the Worker's script and its turns of the event loop may take of a step. */
const MOST = 0.5;
const TOKENS = 112;

test.skip(!process.env["HOST_TIME"], "HOST_TIME is not given");

/** The mean of the middle half: the driver computes on the same cores, so that the host is often interrupted. */
function middle(times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  const half = sorted.slice(sorted.length >> 2, sorted.length - (sorted.length >> 2));
  return half.reduce((sum, one) => sum + one, 0) / half.length;
}

test("the host takes little beside the device", async ({ context, server }) => {
  test.setTimeout(600_000);
  const page = await context.newPage();
  // Tells how long the Worker was busy from the end of one wait to the next, without the calls of WebGPU's in between.
  await page.route(/\/worker\.js$/, async (route) => {
    const body = `
      const found = [];
      let began = 0, calls = 0, count = 0;
      const { instantiate, Suspending } = WebAssembly;
      WebAssembly.Suspending = function (own) {
        return new Suspending((...given) => {
          const result = own(...given);
          if (!(result instanceof Promise)) return result;
          found.push(performance.now() - began - calls - count * clocks);
          return result.finally(() => { began = performance.now(); calls = count = 0; });
        });
      };
      const timed = (own) => (...given) => {
        const start = performance.now();
        const result = own(...given);
        calls += performance.now() - start;
        count += 1;
        return result;
      };
      // The time of the two clocks themselves.
      const nothing = timed(() => 0), before = performance.now();
      for (let i = 0; i < 100_000; i += 1) nothing(1, 2);
      const clocks = (performance.now() - before - calls) / 100_000;
      calls = count = 0;
      WebAssembly.instantiate = (code, imports) => {
        for (const [name, own] of Object.entries(imports.gpu)) if (typeof own === "function") imports.gpu[name] = timed(own);
        return instantiate(code, imports);
      };
      new BroadcastChannel("host").onmessage = ({ data }) => data === "ask" && new BroadcastChannel("host").postMessage(found.splice(0));
    ` + (await (await route.fetch()).text());
    await route.fulfill({ contentType: "text/javascript", body });
  });
  await page.goto(`${server.address}tiny/config.json`);
  const { tokens, times } = await page.evaluate(async ({ address, maxTokens }) => {
    const { open } = (await import(`${address}package/index.js`)) as typeof import("tokamak-web");
    const engine = await open(`${address}models/storyteller/`, { backend: "webgpu", cache: "none", chunk: 8, context: 256, sequences: 1, selfTest: false });
    const hostTimes = () => {
      const answer = new Promise<number[]>((resolve) => {
        new BroadcastChannel("host").onmessage = ({ data }) => Array.isArray(data) && resolve(data);
      });
      new BroadcastChannel("host").postMessage("ask");
      return answer;
    };
    const text = (maxTokens: number) => engine.generate("Once upon a time", { maxTokens, temperature: 0 }).result;
    await text(16); // compiles
    await hostTimes();
    const { tokens } = await text(maxTokens);
    const times = await hostTimes();
    await engine.close();
    return { tokens, times };
  }, { address: server.address, maxTokens: TOKENS });
  expect(tokens).toBe(TOKENS);
  expect(times.length).toBeGreaterThan(TOKENS / 2);
  const mean = times.reduce((sum, one) => sum + one, 0) / TOKENS;
  console.log(`${times.length} waits for ${TOKENS} tokens; between them ${middle(times).toFixed(3)} ms, the middle half of them; ${mean.toFixed(3)} a token, all of them`);
  expect(middle(times)).toBeLessThan(MOST);
});
