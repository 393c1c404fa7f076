import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "what one client learnt of a server saves the next one the question",
  ids: ["ERA-01", "ERA-14"],
  server: () => new Server({ name: "known", version: "1" }).tool("hi", {}, () => "hi"),
  async run({ connect, revision }) {
    const first = await connect();
    const prior = JSON.parse(JSON.stringify(first.prior));
    const next = await connect({ prior });
    expect(next.protocolVersion).toBe(revision);
    expect(next.serverCapabilities).toEqual(first.serverCapabilities);
    expect(await next.call("hi")).toBe("hi");
  },
});
