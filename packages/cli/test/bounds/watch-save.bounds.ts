import { connect } from "@parley/mcp";
import { expect, it } from "vitest";
import { ModuleFolder } from "../run/module-folder.js";
import { ServingParley } from "../run/serving-parley.js";

const BOUND_MS = 500;

const version = (number: number) => `
import { Server } from "@parley/mcp";
export default new Server({ name: "x", version: "${number}.0.0" }).tool("tool_${number}", () => "");`;

it.each(["2025-11-25", "2026-07-28"] as const)("tells a client of %s of a save within 500 ms", async (revision) => {
  using folder = new ModuleFolder({ "main.ts": version(0) }).link();
  await using parley = new ServingParley(["run", "main.ts", "--http", "0", "--watch"], { cwd: folder.path });
  await using client = await connect(await parley.url(), { revisions: [revision] });
  await client.subscribe({ tools: true });
  const times: number[] = [];
  for (let save = 1; save <= 10; save++) {
    const heard = new Promise<void>((resolve) => client.on("notifications/tools/list_changed", () => resolve()));
    const began = performance.now();
    folder.write("main.ts", version(save));
    await heard;
    times.push(performance.now() - began);
    expect((await client.allTools()).map(({ name }) => name)).toEqual([`tool_${save}`]);
  }
  console.log(`heard after ${times.map((ms) => Math.round(ms)).join(", ")} ms`);
  expect(Math.max(...times)).toBeLessThan(BOUND_MS);
});
