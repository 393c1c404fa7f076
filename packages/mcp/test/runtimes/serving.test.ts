import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.js";
import { isBuilt, isWholeSuite } from "./is-built.js";
import { SERVING_WAYS, type Serving } from "./serving-ways.js";

for (const { name, installed } of SERVING_WAYS)
  if (!isBuilt || !installed) console.log(`serving: ${name} is not built or not installed (npm run runtimes)`);
const present = SERVING_WAYS.filter(({ installed }) => isBuilt && installed);

it("is served in every way that the guides show", () => {
  expect(SERVING_WAYS.map(({ name }) => name)).toHaveLength(6);
  if (isWholeSuite) expect(present).toEqual(SERVING_WAYS);
});

describe.each(present)("a handler that a runtime calls with an argument of its own, $name", (way) => {
  let serving: Serving;
  beforeAll(async () => {
    serving = await way.serve();
  }, 240_000);
  afterAll(() => serving?.close());

  it.each(["2026-07-28", "2025-11-25"] as const)("answers calls, progress and questions in %s", async (revision) => {
    await using client = await connect(serving.url, {
      revisions: [revision],
      onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
    });
    expect(client.protocolVersion).toBe(revision);
    expect(await client.call("greet", { name: "Ada" })).toBe("Hello Ada");
    const heard: number[] = [];
    expect(await client.call("steps", {}, { onProgress: ({ progress }) => heard.push(progress) })).toBe("done");
    expect(heard).toEqual([1, 2]);
    expect(await client.call("ask")).toBe("asked Ada");
  });
});
