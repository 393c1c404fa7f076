import { describe, expect, it } from "vitest";
import { allCases } from "./bundle-cases.js";
import { isBuilt, isWholeSuite } from "./is-built.js";
import { RUNTIMES } from "./runtime.js";
import { SMOKE } from "./smoke-list.js";

const missing = RUNTIMES.filter(({ installed }) => !installed);
if (!isBuilt) console.log("runtimes: the package is not built (npm run build); nothing was run");
for (const { name } of missing) console.log(`runtimes: ${name} is not installed for this machine (npm run runtimes)`);
const present = isBuilt ? RUNTIMES.filter(({ installed }) => installed) : [];

describe("other runtimes", () => {
  it("run 20 scenarios, each with the reason for its choice", () => {
    const files = Object.keys(SMOKE);
    expect(files).toHaveLength(20);
    expect(allCases()).toEqual(expect.arrayContaining(files));
    for (const reason of Object.values(SMOKE)) expect(reason).toMatch(/.{15,}/);
  });

  it.runIf(isWholeSuite)("are all here", () => {
    expect(present).toHaveLength(RUNTIMES.length);
  });

  for (const { name, run } of present) {
    it(`${name} holds every one of them, over every transport that it has, in both eras`, {
      timeout: 180_000,
    }, async () => {
      const outcomes = await run(Object.keys(SMOKE));
      const troubles = outcomes.filter(({ trouble }) => trouble !== undefined);
      expect(troubles).toEqual([]);
      expect(outcomes.length).toBeGreaterThanOrEqual(2 * Object.keys(SMOKE).length);
    });
  }
});
