import { readdirSync } from "node:fs";
import { causeFaults, endHosts } from "../../process-faults/faults.js";
import { bundleFixture } from "../../stdio/bundle-fixture.js";
import { atMost, exactly, type Lane, scaled, told } from "../lane.js";
import { waitFor } from "../wait-for.js";

const WIDTH = 8;
const FIXTURES = new URL("../../process-faults/fixtures/", import.meta.url);

export const faults: Lane = {
  name: "faults",
  what: "600 faults of processes on both sides of a pipe: killed, ignoring signals, closing stdout, flooding stderr",
  async run({ scale }) {
    const count = scaled(600, scale);
    // The faults are those of the tests, with the programs that the tests use.
    const programs = {
      server: await bundleFixture(new URL("tool-server.ts", FIXTURES)),
      host: await bundleFixture(new URL("host.ts", FIXTURES)),
    };
    const before = fileDescriptors();
    try {
      const outcomes = await causeFaults(programs, count, WIDTH);
      const problems = outcomes.flatMap(({ fault, problems }) => problems.map((problem) => `${fault}: ${problem}`));
      const left = outcomes.reduce((sum, outcome) => sum + outcome.left.length, 0);
      await waitFor(() => Math.abs(fileDescriptors() - before) <= 2, 2000);
      const slowest = Math.max(...outcomes.map(({ rejectedAfter = 0 }) => rejectedAfter));
      return {
        size: { faults: count, "at a time": WIDTH },
        measures: [
          exactly("faults caused", outcomes.length, count),
          exactly("processes left after 3 s", left, 0),
          exactly("broken rules (pending after 50 ms, late close, …)", problems.length, 0),
          atMost("count", "file descriptors that stayed", Math.abs(fileDescriptors() - before), 2, ""),
          told("time", "slowest rejection by the clock", slowest, "ms"),
        ],
        notes: [...new Set(problems)].slice(0, 10),
      };
    } finally {
      endHosts();
    }
  },
};

function fileDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}
