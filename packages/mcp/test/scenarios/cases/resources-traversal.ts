import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "variables that lead out of their folder never reach the handler",
  ids: ["RES-06"],
  server: () =>
    new Server({ name: "files", version: "1" })
      .resourceTemplate("file:///data/{+path}", {}, ({ path }) => `read ${path}`)
      .resourceTemplate("raw:///{+path}", { allowTraversal: true }, ({ path }) => path),
  async run({ connect }) {
    const client = await connect();
    const bad = ["..", "../etc/passwd", "a/../../b", "%2e%2e/x", "%2E%2E%2Fx", "..%5cx", "%252e%252e/x"];
    for (const path of bad) {
      await expect(client.readResource(`file:///data/${path}`), path).rejects.toMatchObject({ code: -32602 });
    }
    const good = await client.readResource("file:///data/a..b/c");
    expect(good.contents).toMatchObject([{ text: "read a..b/c" }]);
    const raw = await client.readResource("raw:///a/../b");
    expect(raw.contents).toMatchObject([{ text: "a/../b" }]);
  },
});
