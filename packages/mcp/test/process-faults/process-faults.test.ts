import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, expect, it } from "vitest";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { eventually } from "../stdio/processes.js";
import { causeFaults, endHosts } from "./faults.js";

// The soak lane `faults` causes more.
const COUNT = 100;
const fileDescriptors = () => readdirSync("/proc/self/fd").length;

afterAll(endHosts);

it(`${COUNT} process faults leave no process, no pending request and no file descriptor behind`, async () => {
  const programs = {
    server: await bundleFixture(new URL("./fixtures/tool-server.ts", import.meta.url)),
    host: await bundleFixture(new URL("./fixtures/host.ts", import.meta.url)),
  };
  const before = fileDescriptors();
  const since = performance.now();
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const outcomes = await causeFaults(programs, COUNT, 8);
  const seconds = (performance.now() - since) / 1000;

  const slowest = new Map<string, number>();
  for (const { fault, rejectedAfter = 0 } of outcomes) {
    slowest.set(fault, Math.max(slowest.get(fault) ?? 0, rejectedAfter));
  }
  // Clock time, which the load of the machine enters; the rule itself is judged by timers of the same event loop.
  const longest = Math.round(delay.max / 1e6);
  console.log(`${outcomes.length} faults in ${seconds.toFixed(1)} s; longest pause of this event loop ${longest} ms`);
  for (const [fault, ms] of slowest) console.log(`  slowest rejection ${ms.toFixed(0).padStart(4)} ms: ${fault}`);
  expect(outcomes).toHaveLength(COUNT);
  expect(outcomes.filter(({ left, problems }) => left.length > 0 || problems.length > 0)).toEqual([]);
  expect(await eventually(() => Math.abs(fileDescriptors() - before) <= 2)).toBe(true);
}, 600_000);
