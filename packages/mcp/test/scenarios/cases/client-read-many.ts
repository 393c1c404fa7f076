import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "many resources are read at once, and a missing one costs only itself",
  ids: ["RES-03", "RES-04"],
  server: () =>
    new Server({ name: "shelf", version: "1" }).resourceTemplate(
      "book://{n}",
      { name: "books" },
      ({ n }) => `book ${n}`,
    ),
  async run({ connect }) {
    const client = await connect();
    const outcomes = await client.readMany(["book://1", "shelf://2", "book://3"], { concurrency: 2 });
    expect(outcomes).toMatchObject([
      { status: "fulfilled", value: { contents: [{ text: "book 1" }] } },
      { status: "rejected", reason: { remote: true } },
      { status: "fulfilled", value: { contents: [{ text: "book 3" }] } },
    ]);
  },
});
