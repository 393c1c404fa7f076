import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bundleFixture } from "../stdio/bundle-fixture.js";

const run = promisify(execFile);

it("the demonstration loses no call, repeats none that changes something, and leaves no process", async () => {
  const program = await bundleFixture(new URL("main.ts", import.meta.url));
  const { stdout } = await run(process.execPath, [program, "--seconds", "3"], { timeout: 120_000 });
  const counts = Object.fromEntries(
    [...stdout.matchAll(/^([a-z ]+?) +(\d+)(?: |$)/gm)].map(([, name = "", count]) => [name, Number(count)]),
  );
  expect(counts).toMatchObject({ lost: 0, duplicated: 0, "processes left": 0 });
  expect(counts.answered).toBeGreaterThan(0);
  expect(counts.restarts).toBeGreaterThan(0);
  expect(stdout).toContain("From the blow to the next answer:");
}, 150_000);
