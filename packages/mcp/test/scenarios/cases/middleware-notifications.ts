import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "middleware of a server sees its notifications one by one, changes them and drops them",
  ids: ["PROG-02"],
  server: () => {
    const seen: string[] = [];
    const server = new Server({ name: "told", version: "1" });
    server.useNotifications(
      ({ direction, method }, next) => {
        seen.push(`${direction} ${method}`);
        next();
      },
      (notification, next) => {
        const { direction, method, params } = notification;
        if (direction === "outgoing" && method === "notifications/message" && params?.data === "secret") return;
        if (method === "notifications/progress") next({ params: { ...params, message: `step ${params?.progress}` } });
        else next();
      },
    );
    return server
      .tool("work", {}, (_args, ctx) => {
        ctx.log("info", "secret");
        for (let step = 1; step <= 3; step++) ctx.progress(step, { total: 3 });
        ctx.log("info", "public");
        server.remove("tool", "extra");
        return "done";
      })
      .tool("extra", {}, () => "")
      .tool("seen", {}, () => seen.join());
  },
  async run({ connect, era, transport }) {
    const client = await connect({ logLevel: "info" });
    const logs: unknown[] = [];
    client.on("notifications/message", ({ data }) => logs.push(data));
    const changes = await client.subscribe({ tools: true });
    const steps: unknown[] = [];
    await client.call("work", {}, { onProgress: ({ message }) => steps.push(message) });
    expect(steps).toEqual(["step 1", "step 2", "step 3"]);
    for await (const _change of changes) break;
    expect(logs).toEqual(["public"]);
    const seen = String(await client.call("seen")).split(",");
    expect(seen.filter((line) => line === "outgoing notifications/progress")).toHaveLength(3);
    expect(seen).toContain("outgoing notifications/message");
    expect(seen).toContain("outgoing notifications/tools/list_changed");
    // Behind a gateway the server may be spoken to in the other era.
    if (transport.startsWith("gateway")) return;
    if (era === "stateful") expect(seen).toContain("incoming notifications/initialized");
    else expect(seen).toContain("outgoing notifications/subscriptions/acknowledged");
  },
});
