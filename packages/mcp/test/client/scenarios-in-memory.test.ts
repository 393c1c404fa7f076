import { describe, it } from "vitest";
import { runCell } from "../scenarios/run-cell.js";
import type { Scenario } from "../scenarios/scenario.js";
import { TRANSPORTS } from "../scenarios/transports/all.js";

// Scenarios of the client's own features, over one transport: quick enough to be run for each mutant.
const files = [
  "client-try.ts",
  "client-stream.ts",
  "client-notifications.ts",
  "client-roots.ts",
  "client-cache-chosen.ts",
  "resources-list-changed.ts",
];

describe.each(["stateful", "stateless"] as const)("in memory, %s", (era) => {
  it.each(files)("%s holds", async (file) => {
    const transport = TRANSPORTS.find(({ name }) => name === "in-memory");
    if (transport === undefined) throw new Error("there is no transport of this name");
    const module = (await import(/* @vite-ignore */ `../scenarios/cases/${file}`)) as { default: Scenario<never> };
    await runCell(transport, era, file, module.default);
  });
});
