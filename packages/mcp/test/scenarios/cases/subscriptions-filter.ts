import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

function noisy() {
  const server = new Server({ name: "noisy", version: "1" })
    .prompt("p", {}, () => "")
    .resource("note://1", {}, () => "")
    .resource("note://2", {}, () => "")
    .tool("noise", {}, () => {
      server.listChanged("tools");
      server.listChanged("resources");
      server.resourceUpdated("note://2");
      server.listChanged("prompts");
      server.resourceUpdated("note://1");
      return "done";
    });
  return server;
}

export default scenario({
  name: "a subscription tells what was asked for and nothing else",
  ids: ["SUB-01", "SUB-02", "SUB-03"],
  server: noisy,
  async run({ connect }) {
    const client = await connect();
    const subscription = await client.subscribe({ prompts: true, resources: "note://1" });
    expect(subscription.accepted).toEqual({ promptsListChanged: true, resourceSubscriptions: ["note://1"] });
    const seen: string[] = [];
    await client.call("noise");
    for await (const { kind, uri } of subscription) {
      seen.push(uri ?? kind);
      if (seen.length === 2) break;
    }
    expect(seen.sort()).toEqual(["note://1", "prompts"]);
  },
});
