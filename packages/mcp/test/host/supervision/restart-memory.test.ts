import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Supervisor } from "@parley/mcp/supervision";
import { fakeClock } from "@parley/mcp/testing";
import { expect, it } from "vitest";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

it("keeps no instance that was replaced", async () => {
  const clock = fakeClock();
  const instances: WeakRef<object>[] = [];
  const start = () => {
    const instance = { close() {} };
    instances.push(new WeakRef(instance));
    return instance;
  };
  const supervisor = new Supervisor({ name: "s", platform: clock.platform, children: [{ id: "a", start }] });
  await supervisor.start();
  for (let round = 0; round < 200; round++) await supervisor.restartChild("a");
  // References of this turn are given up in the next one.
  await new Promise((resolve) => setTimeout(resolve, 0));
  collect();
  const kept = instances.filter((one) => one.deref() !== undefined);
  expect(instances).toHaveLength(201);
  // The one that runs, and what the last turns of the loop may still hold.
  expect(kept.length).toBeLessThanOrEqual(3);
  expect(clock.pending).toBe(0);
  await supervisor.close();
});
