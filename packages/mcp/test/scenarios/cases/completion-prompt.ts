import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "arguments of a prompt are completed from a list, best fit first",
  ids: ["COMP-01", "COMP-02", "COMP-06"],
  server: () =>
    new Server({ name: "host", version: "1" }).prompt(
      "greet",
      { arguments: { who: { complete: ["Bob", "Ann", "Joan", "ANTON"] }, free: {} } },
      () => "",
    ),
  async run({ connect }) {
    const client = await connect();
    expect(client.serverCapabilities.completions).toEqual({});
    const who = (value: string) => client.complete({ prompt: "greet" }, { name: "who", value });
    expect(await who("an")).toEqual({ values: ["Ann", "ANTON", "Joan"], total: 3, hasMore: false });
    expect((await who("")).values).toHaveLength(4);
    expect((await client.complete({ prompt: "greet" }, { name: "free", value: "x" })).values).toEqual([]);
  },
});
