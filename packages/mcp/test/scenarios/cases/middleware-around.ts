import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "middleware sees every call, may answer it, change its answer or refuse it",
  ids: ["TOOL-18"],
  server: () => {
    const seen: string[] = [];
    return new Server({ name: "wrapped", version: "1" })
      .tool("plain", {}, () => "plain")
      .tool("cached", {}, () => "never reached")
      .tool("seen", {}, () => seen.join(" "))
      .use((call, next) => {
        if (call.method !== "tools/call") return next();
        seen.push(call.params.name);
        if (call.params.name === "cached") return { content: [{ type: "text", text: "from middleware" }] };
        return next();
      });
  },
  async run({ connect }) {
    const client = await connect();
    expect(await client.call("plain")).toBe("plain");
    expect(await client.call("cached")).toBe("from middleware");
    expect(await client.call("seen")).toBe("plain cached seen");
  },
});
