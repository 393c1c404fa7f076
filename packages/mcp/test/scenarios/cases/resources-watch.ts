import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

const uriInput = { type: "object", properties: {} } as const;

function watched() {
  const log: string[] = [];
  let changed: (() => void) | undefined;
  return new Server({ name: "files", version: "1" })
    .resource(
      "file:///log",
      {
        watch: (uri, updated) => {
          log.push(`watch ${uri}`);
          changed = updated;
          return () => log.push(`stop ${uri}`);
        },
      },
      () => "",
    )
    .tool("write", { input: uriInput }, () => {
      changed?.();
      return "written";
    })
    .tool("log", { input: uriInput }, () => log.join(", "));
}

export default scenario({
  name: "a resource is watched while somebody is subscribed, and what the watch sees is told",
  ids: ["RES-07"],
  server: watched,
  except: {
    "gateway-stateless": "the stream that tells of changed lists stays open, and no other is opened only to hear less",
  },
  async run({ connect }) {
    const client = await connect();
    expect(await client.call("log")).toBe("");
    const [first, second] = [await client.subscribe("file:///log"), await client.subscribe("file:///log")];
    expect(await client.call("log")).toBe("watch file:///log");
    await client.call("write");
    for (const subscription of [first, second]) {
      expect((await subscription[Symbol.asyncIterator]().next()).value).toMatchObject({ uri: "file:///log" });
    }
    await first.close();
    await second.close();
    await expect.poll(() => client.call("log")).toBe("watch file:///log, stop file:///log");
  },
});
