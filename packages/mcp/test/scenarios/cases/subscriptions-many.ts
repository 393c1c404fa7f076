import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

function tower() {
  const server = new Server({ name: "tower", version: "1" })
    .resource("bell://1", {}, () => "")
    .tool("ring", {}, () => {
      server.resourceUpdated("bell://1");
      return "rung";
    });
  return server;
}

export default scenario({
  name: "one change reaches every one of many subscribers",
  ids: ["RES-07", "SUB-05"],
  server: tower,
  except: { stdio: "each client has a server process of its own there" },
  async run({ connect }) {
    const clients = await Promise.all(Array.from({ length: 12 }, () => connect()));
    const subscriptions = await Promise.all(clients.map((client) => client.subscribe("bell://1")));
    const heard = subscriptions.map((subscription) => subscription[Symbol.asyncIterator]().next());
    await clients[0]?.call("ring");
    for (const { value } of await Promise.all(heard)) expect(value).toMatchObject({ uri: "bell://1" });
  },
});
