import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

const REPOSITORIES: Readonly<Record<string, readonly string[]>> = { ann: ["atlas", "axe"], bob: ["boat"] };

export default scenario({
  name: "a variable of a template is completed by what is settled already",
  ids: ["COMP-02", "COMP-03"],
  server: () =>
    new Server({ name: "forge", version: "1" }).resourceTemplate(
      "repo://{owner}/{name}",
      {
        complete: {
          owner: Object.keys(REPOSITORIES),
          name: async (value, { owner = "" }) => (REPOSITORIES[owner] ?? []).filter((name) => name.startsWith(value)),
        },
      },
      ({ name }) => name,
    ),
  async run({ connect }) {
    const client = await connect();
    const target = { resource: "repo://{owner}/{name}" };
    expect((await client.complete(target, { name: "owner", value: "b" })).values).toEqual(["bob"]);
    const names = (owner: string) => client.complete(target, { name: "name", value: "a" }, { owner });
    expect((await names("ann")).values).toEqual(["atlas", "axe"]);
    expect((await names("bob")).values).toEqual([]);
  },
});
