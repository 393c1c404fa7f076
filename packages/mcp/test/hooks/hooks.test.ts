import { execFile } from "node:child_process";
import { beforeAll, describe, expect, it } from "vitest";
import { entriesOf } from "../../../../docs/api-reference/entries.js";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { ANSWER_TRIALS } from "./answer-trials.js";
import { functionOptions } from "./function-options.js";
import { HOOK_TRIALS, SILENT } from "./hook-trials.js";
import { NOT_TRIED } from "./not-tried.js";

interface Ended {
  name: string;
  ended: string;
  warnings: string[];
}

let program: string;
beforeAll(async () => {
  program = await bundleFixture(new URL("run-trials.ts", import.meta.url));
});

/** Runs all trials in one process, and says how each ended. */
function run(mode: "throws" | "rejects"): Promise<Map<string, Ended>> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, mode], { timeout: 110_000 }, (error, stdout, stderr) => {
      const lines = stdout.trim().split("\n");
      if (error !== null) reject(new Error(`the process ended during ${lines.at(-1)}: ${error.message}${stderr}`));
      // Safe: the program's own lines.
      const parsed = lines.map((line) => JSON.parse(line) as Partial<Ended>);
      resolve(new Map(parsed.flatMap((one) => (one.name === undefined ? [] : [[one.name, one as Ended]]))));
    });
  });
}

describe("every function that a program hands to the library", () => {
  it("has a trial here, or a reason why it needs none", () => {
    const declared = functionOptions(entriesOf().map(({ source }) => source));
    // What follows a comma is the variant.
    const known = [...Object.keys(HOOK_TRIALS), ...Object.keys(ANSWER_TRIALS)].map(
      (name) => name.split(",")[0] ?? name,
    );
    const tried = (name: string) => known.includes(name);
    const excused = (name: string) => Object.keys(NOT_TRIED).find((one) => one === name || name.startsWith(`${one}.`));
    expect(declared.filter((name) => !tried(name) && excused(name) === undefined)).toEqual([]);
    expect(known.filter((name) => !declared.includes(name))).toEqual([]);
    const used = new Set(declared.filter((name) => !tried(name)).map(excused));
    expect(Object.keys(NOT_TRIED).filter((one) => !used.has(one))).toEqual([]);
  });

  describe.each(["throws", "rejects"] as const)("that %s", (mode) => {
    let ended: Map<string, Ended>;
    beforeAll(async () => {
      ended = await run(mode);
    });

    it.each(Object.keys(HOOK_TRIALS))("does not end the process, and is reported by its name: %s", (name) => {
      expect(ended.get(name)?.ended).toBe("fine");
      const warned = ended.get(name)?.warnings.join("") ?? "";
      if (!SILENT.has(name)) expect(warned).toMatch(/^.*failed: boom$/m);
    });

    it.each(Object.keys(ANSWER_TRIALS))("becomes an error for whoever waits for it: %s", (name) => {
      expect(ended.get(name)?.ended).toBe(ANSWER_TRIALS[name]?.[1]);
    });
  });
});
