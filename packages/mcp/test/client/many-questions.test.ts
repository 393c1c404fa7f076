import { connect, Server } from "@parley/mcp";
import { expect, it } from "vitest";
import { platform } from "../../src/node/platform.js";

it("more than ten questions in one round cause no warning of the runtime, whoever listens to their signals", async () => {
  const warnings: string[] = [];
  const heard = ({ message }: Error) => void warnings.push(message);
  process.on("warning", heard);
  const form = { type: "object", properties: { v: { type: "string" } } } as const;
  const server = new Server({ name: "s", version: "1" }).tool("ask", {}, async (_args, ctx) => {
    const numbers = Array.from({ length: 20 }, (_, index) => index);
    await Promise.all(numbers.map((index) => ctx.elicit(`${index}?`, form, { key: `k${index}` })));
    return "answered";
  });
  const client = await connect(server, {
    revisions: ["2026-07-28"],
    onElicit: (_question, { signal }) => {
      signal.addEventListener("abort", () => {});
      return { action: "accept", content: { v: "x" } };
    },
  });
  try {
    expect(await client.call("ask", {})).toBe("answered");
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  } finally {
    process.off("warning", heard);
    await client.close();
  }
});

it("a platform whose `warn` needs its `this` hears of failing hooks", async () => {
  const lines: string[] = [];
  const own = {
    ...platform,
    lines,
    warn(line: string): void {
      this.lines.push(line);
    },
  };
  const fail = () => {
    throw new Error("boom");
  };
  const server = new Server({ name: "s", version: "1" }, { platform: own, subscribe: true, onSubscribe: fail });
  const client = await connect(server.resource("r://a", {}, () => ""));
  await client.subscribe("r://a");
  await expect.poll(() => lines).toEqual(["`onSubscribe` failed: boom"]);
  await client.close();
});
