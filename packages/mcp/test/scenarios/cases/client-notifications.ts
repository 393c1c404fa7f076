import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a listener to all notifications and a reader of all see the same, in order",
  server: () =>
    new Server({ name: "talks", version: "1" }).tool("talk", {}, (_args, ctx) => {
      for (let line = 1; line <= 5; line++) ctx.log("info", line);
      ctx.progress(1);
      return "done";
    }),
  async run({ connect }) {
    const client = await connect({ logLevel: "info" });
    const heard: string[] = [];
    client.on("notification", ({ method, params }) => heard.push(`${method} ${String(params?.["data"])}`));
    const all = client.notifications();
    await client.call("talk", {}, { onProgress: () => {} });
    const read: string[] = [];
    for await (const { method, params, missed } of all) {
      expect(missed).toBe(0);
      read.push(`${method} ${String(params?.["data"])}`);
      if (read.length === 6) break;
    }
    expect(read).toEqual(heard);
    expect(read.filter((line) => line.startsWith("notifications/message"))).toEqual(
      [1, 2, 3, 4, 5].map((line) => `notifications/message ${line}`),
    );
    const rest = client.notifications();
    await client.close();
    expect((await rest.next()).done).toBe(true);
    expect((await client.notifications().next()).done).toBe(true);
  },
});
