import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, connect } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { ModuleFolder } from "./module-folder.js";
import { ServingParley } from "./serving-parley.js";

const version = (number: number) => `
import { Server } from "@parley/mcp";
import { add } from "./lib/add.js";
export default new Server({ name: "x", version: "${number}.0.0" })
  .tool("which", () => ${number})
  .tool("sum", () => add(1, ${number}))
  .tool("only_in_${number}", () => "");`;
const ADD = "export const add = (a: number, b: number): number => a + b;";

const project = () => new ModuleFolder({ "main.ts": version(0), "lib/add.ts": ADD }).link();
const start = (folder: ModuleFolder) =>
  new ServingParley(["run", "main.ts", "--http", "0", "--watch"], { cwd: folder.path });

/** Counts what a client hears of changed tools. */
async function hearing(client: Client): Promise<() => number> {
  let heard = 0;
  client.on("notifications/tools/list_changed", () => heard++);
  await client.subscribe({ tools: true });
  return () => heard;
}

/** Saves, and waits until the server that is served is the new one. */
async function saved(parley: ServingParley, save: () => void, expected = /reloaded after/): Promise<void> {
  const from = parley.stderr.length;
  save();
  await parley.told(expected, from);
}

describe("parley run --watch", () => {
  it("loses no call of either era during 20 reloads, and every client hears of each", {
    timeout: 120_000,
  }, async () => {
    using folder = project();
    await using parley = start(folder);
    const url = await parley.url();
    const clients = await Promise.all(
      ["2025-11-25", "2026-07-28"].map((revision) => connect(url, { revisions: [revision as "2026-07-28"] })),
    );
    const heard = await Promise.all(clients.map(hearing));
    const began = performance.now();
    let [calls, over] = [0, false];
    const failures: unknown[] = [];
    const calling = clients.flatMap((client) =>
      Array.from({ length: 8 }, async () => {
        while (!over || (calls < 10_000 && performance.now() - began < 20_000)) {
          calls++;
          const value = await client.call("which").catch((reason: unknown) => reason);
          if (typeof value !== "string") failures.push(value);
        }
      }),
    );
    for (let reload = 1; reload <= 20; reload++) {
      const before = heard.map((count) => count());
      await saved(parley, () => folder.write("main.ts", version(reload)));
      for (const [at, count] of heard.entries()) await expect.poll(count).toBeGreaterThan(before[at] ?? 0);
      const [tools] = await Promise.all(clients.map((client) => client.allTools()));
      expect(tools?.map(({ name }) => name)).toContain(`only_in_${reload}`);
    }
    over = true;
    await Promise.all(calling);
    expect(failures).toEqual([]);
    expect(calls).toBeGreaterThan(100);
    console.log(`${calls} calls during 20 reloads, none failed`);
    await Promise.all(clients.map((client) => client.close()));
  });

  it("keeps the old version while the new one cannot be loaded, and says why", async () => {
    using folder = project();
    await using parley = start(folder);
    await using client = await connect(await parley.url());
    await saved(
      parley,
      () => folder.write("main.ts", "const x = ;"),
      /main\.ts:1:11: syntax error.*\n {7}const x = ;\n {17}\^\nfix: .*\nthe previous version/,
    );
    expect(await client.call("which")).toBe("0");
    await saved(
      parley,
      () => folder.write("main.ts", `${version(1)}\nimport "./new.js";`),
      /the file \.\/new\.js does not exist/,
    );
    expect(await client.call("which")).toBe("0");
    // What was missing comes: no other file has to be saved.
    await saved(parley, () => folder.write("new.ts", "export {};"));
    expect(await client.call("which")).toBe("1");
    await saved(
      parley,
      () => folder.write("main.ts", `${version(2)}\nimport "late";`),
      /the package late is not installed/,
    );
    await saved(parley, () => {
      folder.write("node_modules/late/index.js", "export {};");
      folder.write("node_modules/late/package.json", '{ "name": "late", "type": "module", "exports": "./index.js" }');
    });
    expect(await client.call("which")).toBe("2");
  });

  it("sees a file that is replaced, deleted and brought back, in a folder that is replaced too", async () => {
    using folder = project();
    await using parley = start(folder);
    await using client = await connect(await parley.url());
    const lib = join(folder.path, "lib");
    const doubled = ADD.replace("a + b", "(a + b) * 2");
    // As editors save: a file beside it, renamed over it.
    await saved(parley, () => {
      writeFileSync(join(lib, ".add.ts.swp"), doubled);
      renameSync(join(lib, ".add.ts.swp"), join(lib, "add.ts"));
    });
    expect(await client.call("sum")).toBe("2");
    await saved(parley, () => rmSync(join(lib, "add.ts")), /the file \.\/lib\/add\.js does not exist/);
    expect(await client.call("sum")).toBe("2");
    await saved(parley, () => folder.write("lib/add.ts", ADD));
    expect(await client.call("sum")).toBe("1");
    await saved(parley, () => rmSync(lib, { recursive: true }), /the file .* does not exist/);
    mkdirSync(lib);
    await saved(parley, () => folder.write("lib/add.ts", doubled));
    expect(await client.call("sum")).toBe("2");
    await saved(parley, () => folder.write("lib/add.ts", ADD));
    expect(await client.call("sum")).toBe("1");
  });

  it("ends at the last of several saves in a burst", async () => {
    using folder = project();
    await using parley = start(folder);
    await using client = await connect(await parley.url());
    for (let save = 1; save <= 30; save++) folder.write("main.ts", version(save));
    await expect.poll(() => client.call("which")).toBe("30");
  });

  it("ends calls under way at the old server, and closes it afterwards", async () => {
    const slow = (number: number) => `
      import { Server } from "@parley/mcp";
      const seen = (globalThis.seenByWatchTest ??= []);
      const server = new Server({ name: "x", version: "1.0.0" }).tool("slow", async () => {
        seen.push("begun ${number}");
        await new Promise((done) => { globalThis.endWatchedCall = done; });
        return "from ${number}";
      });
      const close = server.close.bind(server);
      server.close = async () => { seen.push("closed ${number}"); await close(); };
      export default server;`;
    // What the module leaves there.
    const globals = globalThis as { seenByWatchTest?: string[]; endWatchedCall?: () => void };
    using folder = new ModuleFolder({ "main.ts": slow(1) }).link();
    await using parley = start(folder);
    await using client = await connect(await parley.url());
    const call = client.call("slow");
    await expect.poll(() => globals.seenByWatchTest).toEqual(["begun 1"]);
    await saved(parley, () => folder.write("main.ts", slow(2)));
    expect(globals.seenByWatchTest).toEqual(["begun 1"]);
    globals.endWatchedCall?.();
    expect(await call).toBe("from 1");
    await expect.poll(() => globals.seenByWatchTest).toEqual(["begun 1", "closed 1"]);
    delete globals.seenByWatchTest;
  });

  it("swaps a server that is made by the project's own copy of the library", async () => {
    using folder = new ModuleFolder({ "main.ts": version(0), "lib/add.ts": ADD }).copy();
    await using parley = start(folder);
    await using client = await connect(await parley.url());
    const heard = await hearing(client);
    await saved(parley, () => folder.write("main.ts", version(1)));
    expect(await client.call("which")).toBe("1");
    await expect.poll(heard).toBeGreaterThan(0);
  });
});
