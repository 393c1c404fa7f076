import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { MUTANTS } from "./all-mutants.js";
import { fromRoot } from "./mutant.js";

const rootPath = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

describe("the historical defects", () => {
  it("are at least 40, each with a name of its own", () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  });

  it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    "%s can still be written into the sources, in one place",
    (_name, { file, search, replace, tests }) => {
      const source = readFileSync(rootPath(fromRoot("packages/mcp/src", file)), "utf8");
      expect(source.split(search).length - 1).toBe(1);
      expect(replace).not.toBe(search);
      expect(tests.length).toBeGreaterThan(0);
      for (const test of tests) expect(existsSync(rootPath(fromRoot("packages/mcp", test))), test).toBe(true);
    },
  );
});
