import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Drive } from "../../../test/server/drive.js";
import { Server } from "../server.js";

const info = { name: "s", version: "1" };
const make = (invalidArguments: "result" | "protocol" = "result") =>
  new Server(info, { invalidArguments })
    .tool("forecast", { input: z.object({ days: z.number() }) }, () => "")
    .tool("forecasts", { visibleTo: () => false }, () => "")
    .prompt("packing", {}, () => "");

describe("an unknown name", () => {
  it("is refused with the nearest one that the caller sees", async () => {
    const drive = new Drive(make());
    expect((await drive.call("forcast")).error).toEqual({
      code: -32602,
      message: 'unknown tool: forcast; did you mean "forecast"?',
      data: { reason: "unknown_tool", name: "forcast", nearest: "forecast" },
    });
    expect((await drive.send("prompts/get", { name: "pakcing" })).error?.message).toBe(
      'unknown prompt: pakcing; did you mean "packing"?',
    );
    expect((await drive.call("forecastss")).error?.message, "a hidden tool is not named").toContain('"forecast"');
    expect((await drive.call("zzz")).error?.message).toBe("unknown tool: zzz");
  });

  it("of a mounted server is refused by the name that the caller sent", async () => {
    const drive = new Drive(new Server(info).mount("in", make()));
    expect((await drive.call("in_forcast")).error?.message).toBe("unknown tool: in_forcast");
  });
});

describe("params that do not fit", () => {
  it("are refused with a list of what is wrong, for programs", async () => {
    const drive = new Drive(make("protocol"));
    expect((await drive.send("tools/call", { name: 5 })).error?.data).toEqual({
      issues: [{ path: "/name", message: "must be a string" }],
    });
    expect((await drive.send("tools/call", { name: "forecast", arguments: [] })).error?.data).toEqual({
      issues: [{ path: "/arguments", message: "must be an object" }],
    });
    expect((await drive.call("forecast", { days: "soon" })).error?.data).toMatchObject({
      issues: [{ path: "/days", message: expect.any(String) }],
    });
    const { result } = await new Drive(make()).call("forecast", { days: "soon" });
    expect(result).toMatchObject({
      isError: true,
      _meta: { "dev.parley/failure": { kind: "invalid_params", issues: [{ path: "/days" }] } },
    });
  });
});
