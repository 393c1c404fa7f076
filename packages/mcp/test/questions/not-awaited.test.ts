import { Server } from "@parley/mcp";
import { expect, it } from "vitest";
import { Drive, textOf } from "../server/drive.js";

const form = { type: "object", properties: { v: { type: "string" } } } as const;

for (const revision of ["2025-11-25", "2026-07-28"] as const) {
  it(`a question or step that a handler forgets to await is named once per tool, in ${revision}`, async () => {
    const lines: string[] = [];
    const server = new Server({ name: "s", version: "1" }, { platform: { warn: (line) => void lines.push(line) } })
      .tool("elicits", {}, (_args, ctx) => {
        void ctx.elicit("v?", form);
        return "done";
      })
      .tool("steps", {}, (_args, ctx) => {
        void ctx.step("s", () => new Promise(() => {}));
        return "done";
      })
      .tool("waits", {}, async (_args, ctx) => {
        const [{ v }] = await Promise.all([ctx.elicit("v?", form), ctx.step("s", () => 1)]);
        return String(v);
      })
      .tool("fails", {}, async (_args, ctx) => {
        await Promise.all([ctx.elicit("v?", form), Promise.reject(new Error("no"))]);
        return "never";
      });
    const answer = () => ({ action: "accept", content: { v: "x" } });
    const drive = new Drive(server, { revision, capabilities: { elicitation: {} }, answer });
    expect(textOf(await drive.call("waits"))).toBe("x");
    expect((await drive.call("fails")).result?.isError).toBe(true);
    lines.length = 0;
    for (const tool of ["elicits", "steps", "elicits"]) expect(textOf(await drive.call(tool))).toBe("done");
    expect(lines).toEqual([
      '`ctx.elicit` was not awaited: the handler of "elicits" returned before it was done; write `await`',
      '`ctx.step` was not awaited: the handler of "steps" returned before it was done; write `await`',
    ]);
  });
}
