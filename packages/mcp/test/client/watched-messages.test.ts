import { connect, McpError, Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { REVISIONS } from "@parley/mcp/protocol";
import type { WireMessage } from "@parley/mcp/transport";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const server = new Server({ name: "watched", version: "1.0.0" })
  .tool("ask", {}, async (_args, ctx) => {
    ctx.progress(1);
    const { sure } = await ctx.elicit("Sure?", z.object({ sure: z.boolean() }));
    return sure ? "yes" : "no";
  })
  .tool("fail", {}, () => {
    throw new McpError("invalid_params", "never");
  });

describe.each(REVISIONS.filter((revision) => revision >= "2025-06-18"))("onMessage in %s", (revision) => {
  it.each(["memory", "http"])("shows every message of both directions over %s", async (transport) => {
    const seen: WireMessage[] = [];
    await using handle = transport === "http" ? await serveHttp(server, { port: 0 }) : undefined;
    await using client = await connect<typeof server>(handle?.url ?? server, {
      revisions: [revision],
      onMessage: (message) => seen.push(message),
      onElicit: () => ({ action: "accept", content: { sure: true } }),
    });
    await client.callTool("ask", {}, { onProgress: () => {} });
    await client.request("no/such").catch(() => {});

    const said = (direction: string, test: (message: WireMessage["message"]) => boolean) =>
      seen.filter((one) => one.direction === direction && test(one.message)).length;
    const text = JSON.stringify(seen);
    expect(said("sent", ({ method }) => method === "tools/call")).toBeGreaterThan(0);
    expect(said("received", ({ method }) => method === "notifications/progress")).toBeGreaterThan(0);
    expect(text).toContain("Sure?");
    expect(said("received", ({ error }) => error !== undefined)).toBe(1);
    // Every request has one answer, in the other direction.
    for (const direction of ["sent", "received"]) {
      const other = direction === "sent" ? "received" : "sent";
      const asked = seen.filter((one) => one.direction === direction && "id" in one.message && "method" in one.message);
      for (const { message } of asked)
        expect(said(other, ({ id, method }) => id === message["id"] && method === undefined)).toBe(1);
    }
  });
});

it("a watcher that throws is reported, and harms no call", async () => {
  const warnings: string[] = [];
  await using client = await connect(server, {
    platform: { warn: (message) => warnings.push(message) },
    onMessage: () => {
      throw new Error("no");
    },
  });
  expect((await client.allTools()).length).toBe(2);
  expect(warnings.join()).toContain("onMessage");
});

it("messages say which connection they belong to", async () => {
  const seen: WireMessage[] = [];
  const options = { onMessage: (message: WireMessage) => seen.push(message) };
  await using first = await connect(server, options);
  await using second = await connect(server, options);
  await Promise.all([first.ping(), second.ping()]);
  const connections = new Set(seen.map(({ connection }) => connection));
  expect(connections.size).toBe(2);
  for (const one of connections) expect(seen.filter(({ connection }) => connection === one).length).toBeGreaterThan(2);
});
