import { Server } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "middleware of a client sees notifications before listeners do, and those that it sends",
  server: () =>
    new Server({ name: "talks", version: "1" })
      .tool("talk", {}, (_args, ctx) => {
        for (const line of ["one", "two", "three"]) ctx.log("info", line);
        ctx.progress(1);
        return "done";
      })
      .tool("hangs", {}, (_args, ctx) => {
        ctx.progress(1);
        return new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
      }),
  async run({ connect, transport, era }) {
    const seen: string[] = [];
    const outer = defineExtension({
      id: "com.example/outer",
      settings: {},
      client: () => ({
        aroundNotifications({ direction, method }, next) {
          seen.push(`${direction} ${method}`);
          next();
        },
      }),
    });
    const client = await connect({ logLevel: "info", extensions: [outer] });
    client.useNotifications((notification, next) => {
      const { method, params } = notification;
      if (method === "notifications/message" && params?.data === "two") return;
      if (method === "notifications/message") next({ params: { ...params, data: `heard ${String(params?.data)}` } });
      else next();
    });
    const logs: unknown[] = [];
    client.on("notifications/message", ({ data }) => logs.push(data));
    let progress = 0;
    await client.call("talk", {}, { onProgress: () => progress++ });
    expect(logs).toEqual(["heard one", "heard three"]);
    expect(progress).toBe(1);
    expect(seen.filter((line) => line === "incoming notifications/message")).toHaveLength(3);
    expect(seen).toContain("incoming notifications/progress");

    const controller = new AbortController();
    const onProgress = () => controller.abort();
    await expect(client.call("hangs", {}, { signal: controller.signal, onProgress })).rejects.toThrow();
    // Over HTTP a stateless call is cancelled by the end of its stream, without a notification.
    const cancels = era === "stateful" || !transport.startsWith("http");
    await expect.poll(() => seen.includes("outgoing notifications/cancelled")).toBe(cancels);
  },
});
