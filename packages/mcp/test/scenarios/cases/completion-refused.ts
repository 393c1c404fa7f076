import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "completing what does not exist is refused",
  ids: ["COMP-05"],
  server: () =>
    new Server({ name: "host", version: "1" }).prompt("greet", { arguments: { who: { complete: ["a"] } } }, () => ""),
  async run({ connect }) {
    const client = await connect();
    const argument = { name: "who", value: "" };
    for (const target of [{ prompt: "nope" }, { resource: "x://y" }, { prompt: "__proto__" }]) {
      await expect(client.complete(target, argument)).rejects.toMatchObject({ code: -32602 });
    }
    await expect(client.complete({ prompt: "greet" }, { name: "whom", value: "" })).rejects.toMatchObject({
      code: -32602,
    });
    expect((await client.complete({ prompt: "greet" }, argument)).values).toEqual(["a"]);
  },
});
