import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Drive } from "../../../test/server/drive.js";
import { Server } from "../server.js";
import type { CallEnded, CallRefused, CallStarted } from "./observer.js";

const info = { name: "s", version: "1" };
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

function watched() {
  const started: CallStarted[] = [];
  const ended: CallEnded[] = [];
  const refused: CallRefused[] = [];
  const secret = new Error("inner detail");
  let now = 0;
  const server = new Server(info, { maskErrors: true, platform: { now: () => now, warn: () => {} } })
    .tool("ok", { input: z.object({ password: z.string() }) }, () => {
      now += 25;
      return "fine";
    })
    .tool("throws", {}, () => {
      throw secret;
    })
    .tool("ask", {}, async (_args, ctx) => {
      await ctx.elicit("ok?", z.object({ ok: z.boolean() }));
      return "";
    });
  const stop = server.observe({
    started: (call) => void started.push(call),
    ended: (call) => void ended.push(call),
    refused: (call) => void refused.push(call),
  });
  return { server, started, ended, refused, stop, secret };
}

describe("observers", () => {
  it("hear of every call: what, by whom, in which trace, how long, how it ended, never with what", async () => {
    const { server, started, ended } = watched();
    const drive = new Drive(server, { principal: { key: "ada" }, meta: { traceparent } });
    const { answer } = await drive.call("ok", { password: "hunter2" });
    expect(started).toEqual([
      {
        method: "tools/call",
        name: "ok",
        requestId: 1,
        protocolVersion: "2026-07-28",
        http: false,
        auth: { key: "ada" },
        trace: expect.objectContaining({ traceId: "4bf92f3577b34da6a3ce929d0e0e4736" }),
      },
    ]);
    expect(ended).toEqual([
      { ...started[0], durationMs: 25, outcome: "ok", error: undefined, length: answer.text.length },
    ]);
    expect(JSON.stringify([started, ended])).not.toContain("hunter2");
  });

  it("hear of failures in full, also where the caller was told less", async () => {
    const { server, ended, secret } = watched();
    const drive = new Drive(server, { capabilities: { elicitation: {} } });
    await drive.call("throws");
    await drive.call("nobody");
    await drive.call("ask");
    expect(ended.map(({ outcome }) => outcome)).toEqual(["tool_error", "error", "input_required"]);
    expect(ended[0]?.error).toBe(secret);
    expect(ended[1]?.error).toMatchObject({ kind: "invalid_params" });
  });

  it("hear of requests that never became a call", async () => {
    const { server, refused, started } = watched();
    await new Drive(server).send("no/such");
    expect(refused).toEqual([
      { method: "no/such", requestId: 1, error: expect.objectContaining({ kind: "method_not_found" }) },
    ]);
    expect(started).toEqual([]);
  });

  it("can stop, and their own faults change nothing", async () => {
    const { server, ended, stop } = watched();
    server.observe({
      started: () => {
        throw new Error("observer");
      },
    });
    const drive = new Drive(server);
    expect((await drive.call("ok", { password: "x" })).error).toBeUndefined();
    stop();
    await drive.call("ok", { password: "x" });
    expect(ended).toHaveLength(1);
  });
});
