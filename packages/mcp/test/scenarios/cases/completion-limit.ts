import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "of 250 suggestions a client gets the first 100 and learns that there are more",
  ids: ["COMP-04"],
  server: () =>
    new Server({ name: "host", version: "1" }).prompt(
      "pick",
      { arguments: { item: { complete: () => Array.from({ length: 250 }, (_, n) => `item ${n}`) } } },
      () => "",
    ),
  async run({ connect }) {
    const client = await connect();
    const found = await client.complete({ prompt: "pick" }, { name: "item", value: "" });
    expect(found).toMatchObject({ total: 250, hasMore: true });
    expect(found.values).toHaveLength(100);
    expect(found.values[99]).toBe("item 99");
  },
});
