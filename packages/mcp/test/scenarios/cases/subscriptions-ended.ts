import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

function closing() {
  const server = new Server({ name: "closing", version: "1" })
    .resource("note://1", {}, () => "")
    .tool("end", {}, () => {
      server.endSubscriptions();
      return "ended";
    });
  return server;
}

export default scenario({
  name: "a subscription that the server ends is over without an error",
  ids: ["SUB-08", "SUB-09", "SUB-10"],
  server: closing,
  except: {
    stateful: "a session's subscriptions end with the session",
    "gateway-stateful": "the gateway keeps the subscriptions of its clients, whatever ends at the server",
    "gateway-stateless": "the gateway keeps the subscriptions of its clients, whatever ends at the server",
  },
  async run({ connect }) {
    const client = await connect();
    const subscription = await client.subscribe("note://1");
    const next = subscription[Symbol.asyncIterator]().next();
    expect(await client.call("end")).toBe("ended");
    expect((await next).done).toBe(true);
    expect(await client.call("end")).toBe("ended");
  },
});
