import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a cursor that the server did not make for this list is refused",
  ids: ["PAGE-04"],
  server: () => {
    const server = new Server({ name: "many", version: "1" }, { pageSize: 1 });
    for (let n = 0; n < 3; n++) server.tool(`t${n}`, {}, () => "").prompt(`p${n}`, {}, () => "");
    return server;
  },
  async run({ connect }) {
    const client = await connect();
    const { nextCursor = "" } = await client.listTools();
    const foreign = (await client.listPrompts()).nextCursor ?? "";
    const flipped = (nextCursor.startsWith("W") ? "X" : "W") + nextCursor.slice(1);
    for (const cursor of ["", "0", nextCursor.slice(0, -1), `${nextCursor}A`, flipped, foreign]) {
      await expect(client.listTools(cursor), cursor).rejects.toMatchObject({ code: -32602 });
    }
    expect((await client.listTools(nextCursor)).tools.map(({ name }) => name)).toEqual(["t1"]);
  },
});
