import { describe, expect, it } from "vitest";
import { BuiltParley, isBuilt } from "../run/built-parley.js";
import { ModuleFolder } from "../run/module-folder.js";

const SERVER = `import { Server } from "@parley/mcp"; console.log("loaded");
  export default new Server({ name: "x", version: "1.0.0" })
    .tool("say", () => { console.log("again"); console.table([1]); return "said"; })
    .tool("fail", () => { throw new Error("it never works"); });`;

describe.skipIf(!isBuilt)("a module as the target of a command", () => {
  it("prints nothing into the answer", async () => {
    using folder = new ModuleFolder({ "main.ts": SERVER }).link();
    await using parley = new BuiltParley(["call", "main.ts", "say", "--json"], { cwd: folder.path });
    expect(await parley.ended(), parley.stderr).toBe(0);
    expect(JSON.parse(parley.stdout)).toMatchObject({ content: [{ text: "said" }] });
    expect(parley.stderr).toContain("loaded\nagain\n");
  });

  it("reports errors of its tools by their place, and by their stack with --debug", async () => {
    using folder = new ModuleFolder({ "main.ts": SERVER }).link();
    for (const [options, most] of [
      [[], 1],
      [["--debug"], 100],
    ] as const) {
      await using parley = new BuiltParley(["call", "main.ts", "fail", ...options], { cwd: folder.path });
      expect(await parley.ended()).toBe(1);
      const frames = parley.stderr.split("\n").filter((line) => /^\s+at /.test(line));
      expect(frames[0]).toContain("main.ts:4");
      expect(frames.length > 1).toBe(most > 1);
    }
  });

  it("is waited for, although nothing else holds the process", async () => {
    using folder = new ModuleFolder({ "main.ts": SERVER }).link();
    await using parley = new BuiltParley(["subscribe", "main.ts", "--count", "1"], { cwd: folder.path });
    await parley.told(/waiting for changes/);
    expect(await parley.end("SIGINT"), parley.stderr).toBe(130);
  });

  it("that never ends loading is given up in time, or by a signal", async () => {
    using folder = new ModuleFolder({ "main.ts": 'console.error("begun"); await new Promise(() => {});' });
    await using late = new BuiltParley(["list", "main.ts", "--timeout", "300ms"], { cwd: folder.path });
    expect(await late.ended()).toBe(3);
    expect(late.stderr).toContain("took longer than 300 ms\nfix:   Raise --timeout");
    await using interrupted = new BuiltParley(["list", "main.ts"], { cwd: folder.path });
    await interrupted.told(/begun/);
    expect(await interrupted.end("SIGINT"), interrupted.stderr).toBe(130);
  });
});
