// How a program that measures itself talks to the benchmark: `round <ms>` on stdin, one line of JSON on stdout.
import { createServer } from "node:http";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";

/** Answers each `round` with what `run(ms)` gives; ends with stdin. */
export function answerRounds(run) {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", async (line) => {
    try {
      console.log(JSON.stringify(await run(Number(line.split(" ")[1]))));
    } catch (error) {
      console.error(error);
      process.exit(1);
    }
  });
  lines.on("close", () => process.exit(0));
}

/** Calls `act` again and again for about `ms`, one call after the other, and says how often and how long one took. */
export async function repeat(ms, act) {
  const watch = startWatch();
  let calls = 0;
  do {
    for (let at = 0; at < 16; at++) await act();
    calls += 16;
  } while (watch.elapsed() < ms);
  return watch.pace(calls);
}

/** As `repeat`, for work that never waits; `batch` operations are done between two looks at the clock. */
export function repeatNow(ms, batch, act) {
  const watch = startWatch();
  let calls = 0;
  do calls += act(batch);
  while (watch.elapsed() < ms);
  return watch.pace(calls);
}

/** Keeps `width` calls in flight for about `ms`. */
export async function inFlight(ms, width, act) {
  const watch = startWatch();
  let calls = 0;
  const lane = async () => {
    while (watch.elapsed() < ms) {
      await act();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return watch.pace(calls);
}

/** Looks at the clock and at the processor time of this process. */
export function startWatch() {
  const started = performance.now();
  const used = process.cpuUsage();
  return {
    elapsed: () => performance.now() - started,
    pace(calls) {
      const elapsed = performance.now() - started;
      const { user, system } = process.cpuUsage(used);
      return {
        perSecond: (calls / elapsed) * 1000,
        micros: (elapsed * 1000) / calls,
        cpuMicros: (user + system) / calls,
      };
    },
  };
}

/** Serves `handler` on a free loopback port, says where, and answers questions about the heap. */
export function listen(handler) {
  const server = createServer({ keepAliveTimeout: 65_000 }, handler);
  server.listen(0, "127.0.0.1", () => listening(`http://127.0.0.1:${server.address().port}/mcp`));
}

/** Says where this program is served. */
export function listening(url) {
  process.on("message", (message) => {
    if (message === "heap") process.send?.({ heap: heapInUse() });
  });
  process.on("disconnect", () => process.exit(0));
  console.log(`listening ${url}`);
}

function heapInUse() {
  for (let at = 0; at < 3; at++) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
