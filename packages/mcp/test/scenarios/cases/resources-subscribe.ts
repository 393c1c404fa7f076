import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

function notes(): Server<Record<string, unknown>, { touch: { args: { uri: string }; result: string } }> {
  const server = new Server({ name: "notes", version: "1" })
    .resourceTemplate("note://{id}", {}, ({ id }) => id)
    .tool(
      "touch",
      { input: { type: "object", properties: { uri: { type: "string" } }, required: ["uri"] } },
      ({ uri }) => {
        server.resourceUpdated(uri);
        return "touched";
      },
    );
  return server;
}

export default scenario({
  name: "a subscriber hears of its own resources, and of nothing after it has left",
  ids: ["RES-07", "SUB-02", "SUB-05", "SUB-07"],
  server: notes,
  async run({ connect }) {
    const client = await connect();
    const first = await client.subscribe(["note://1", "note://2"]);
    const second = await client.subscribe("note://2");
    const changes = first[Symbol.asyncIterator]();
    const others = second[Symbol.asyncIterator]();
    for (const uri of ["note://3", "note://1", "note://2"]) await client.call("touch", { uri });
    expect((await changes.next()).value).toEqual({ kind: "resource", uri: "note://1", missed: false });
    expect((await changes.next()).value).toEqual({ kind: "resource", uri: "note://2", missed: false });
    expect((await others.next()).value).toEqual({ kind: "resource", uri: "note://2", missed: false });
    await first.close();
    expect((await changes.next()).done).toBe(true);
    await client.call("touch", { uri: "note://2" });
    expect((await others.next()).value).toMatchObject({ uri: "note://2" });
  },
});
