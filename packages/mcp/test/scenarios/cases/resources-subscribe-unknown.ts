import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "nobody can subscribe to what nobody can read",
  ids: ["RES-04", "SUB-03", "SUB-04"],
  server: () =>
    new Server({ name: "notes", version: "1" })
      .resource("note://known", {}, () => "")
      .resource("note://secret", { visibleTo: () => false }, () => ""),
  async run({ connect }) {
    const client = await connect();
    for (const uri of ["note://nope", "note://secret"]) await expect(client.subscribe(uri)).rejects.toThrow();
    const subscription = await client.subscribe("note://known");
    expect(subscription.accepted).toEqual({ resourceSubscriptions: ["note://known"] });
    await subscription.close();
  },
});
