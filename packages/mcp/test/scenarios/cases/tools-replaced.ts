import { Server, tool } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a tool is replaced while clients stay connected, without a failed call",
  ids: ["TOOL-09"],
  server: () => {
    const version = (number: number) => tool("version", {}, () => `version ${number}`);
    const server: Server<
      Record<string, unknown>,
      {
        version: { args: Record<string, never>; result: string };
        upgrade: { args: { to: number }; result: string };
      }
    > = new Server({ name: "hot", version: "1" })
      .add(version(1))
      .tool("upgrade", { input: z.object({ to: z.number() }) }, ({ to }) => {
        server.replace(version(to));
        return "upgraded";
      });
    return server;
  },
  async run({ connect }) {
    const client = await connect();
    expect(await client.call("version")).toBe("version 1");
    for (let to = 2; to < 6; to++) {
      const calls = Array.from({ length: 10 }, () => client.call("version"));
      await client.call("upgrade", { to });
      for (const answer of await Promise.all(calls)) expect(answer).toMatch(/^version \d$/);
      expect(await client.call("version")).toBe(`version ${to}`);
    }
  },
});
