import { describe, expect, it } from "vitest";
import { Drive } from "../../../test/server/drive.js";
import { httpFacts } from "../../../test/server/http-facts.js";
import { META } from "../../protocol/meta.js";
import { Server } from "../../server/server.js";

const server = new Server({ name: "s", version: "1" }).tool(
  "where",
  { input: { type: "object", properties: { city: { type: "string", "x-mcp-header": "City" } } } },
  () => "here",
);

/** What JSON may hold and no text can be made of. */
const UNTEXTUAL: unknown[] = [{ toString: 1 }, { toString: null, valueOf: null }];

describe("a request of the stateless era", () => {
  it("with a log level of any wrong shape is refused as what it is, a bad parameter", async () => {
    for (const level of [...UNTEXTUAL, "loud", 5, null, []]) {
      const { error } = await new Drive(server, { meta: { [META.logLevel]: level } }).once("tools/list");
      expect(error, JSON.stringify(level)).toMatchObject({
        code: -32602,
        message: expect.stringContaining("is not a log level"),
      });
    }
  });

  it("with a mirrored argument of any wrong shape does not fit its header", async () => {
    const headers: Record<string, string> = {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "where",
      "mcp-param-city": "Oslo",
    };
    const http = httpFacts(headers);
    for (const city of UNTEXTUAL) {
      const { error } = await new Drive(server, { http }).once("tools/call", { name: "where", arguments: { city } });
      expect(error).toMatchObject({ code: -32020 });
    }
  });

  it("with a long name or version is refused by a short answer", async () => {
    const long = "x".repeat(100_000);
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "where" };
    const named = new Drive(server, { http: httpFacts(headers) });
    const { error } = await named.once("tools/call", { name: long, arguments: {} });
    expect(error).toMatchObject({ code: -32020, message: expect.stringContaining("xxx…") });
    expect(JSON.stringify(error).length).toBeLessThan(1000);
    const dated = await new Drive(server, { meta: { [META.protocolVersion]: long } }).once("tools/list");
    expect(dated.error).toMatchObject({ code: -32022 });
    expect(JSON.stringify(dated.error).length).toBeLessThan(1000);
  });
});
