import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "an unknown log level is refused",
  ids: ["LOG-06"],
  server: () => new Server({ name: "chatty", version: "1" }).tool("talk", {}, () => "done"),
  except: { "in-memory": "the schemas that check every message there refuse the client's own" },
  async run({ connect, era }) {
    const client = await connect();
    const loud =
      era === "stateful"
        ? client.request("logging/setLevel", { level: "loud" } as never)
        : // A caller cannot write this member of `_meta`, so that only the client itself could send it.
          client.setLogLevel("loud" as never);
    await expect(loud).rejects.toMatchObject(era === "stateful" ? { code: -32602 } : { kind: "misuse" });
    expect(await client.call("talk")).toBe("done");
  },
});
