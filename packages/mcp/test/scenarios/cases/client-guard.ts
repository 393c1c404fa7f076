import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "what the server does not offer is refused before anything is sent",
  ids: ["VER-05", "LIFE-07"],
  server: () => new Server({ name: "small", version: "1" }, { logging: false }).tool("hi", {}, () => "hi"),
  async run({ connect }) {
    const client = await connect();
    for (const call of [
      () => client.allResources(),
      () => client.readResource("file:///a"),
      () => client.allPrompts(),
      () => client.complete({ prompt: "p" }, { name: "a", value: "" }),
      () => client.subscribe("file:///a"),
    ]) {
      await expect(call()).rejects.toMatchObject({ kind: "capability_missing", remote: false });
    }
  },
});
