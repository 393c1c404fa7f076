import { connect, McpError, Server } from "@parley/mcp";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const server = () => new Server({ name: "shop", version: "1" });
// What programs without types can do, which the compiler would refuse here.
const loosely = (value: unknown) => value as never;
const noop = () => "";

/** What a newcomer may write, and what the message and the fix must name. */
const MISTAKES: [what: string, mistake: () => unknown, kind: string, message: RegExp, fix: RegExp][] = [
  ["a server without a name", () => new Server(loosely({})), "invalid_definition", /name/, /new Server\(/],
  ["a server without anything", () => new Server(loosely(undefined)), "invalid_definition", /name/, /new Server\(/],
  [
    "a tool without a handler",
    () => server().tool("buy", {}, loosely(undefined)),
    "invalid_definition",
    /"buy" has no handler/,
    /definition/,
  ],
  [
    "a resource without a handler",
    () => server().resource("shop://all", {}, loosely(undefined)),
    "invalid_definition",
    /shop:\/\/all/,
    /function/,
  ],
  [
    "a schema that is no object",
    () => server().tool("buy", { input: z.string() }, noop),
    "invalid_definition",
    /"buy" must have type "object"/,
    /z\.object/,
  ],
  [
    "a shape in place of a schema",
    () => server().tool("buy", { input: loosely({ a: z.string() }) }, noop),
    "invalid_definition",
    /"buy" must have type "object"/,
    /z\.object/,
  ],
  [
    "a library without a converter",
    () => server().tool("buy", { input: v.object({ a: v.string() }) }, noop),
    "invalid_schema",
    /"buy" input.*toJsonSchema/,
    /toJsonSchema/,
  ],
  [
    "a type that JSON has not",
    () => server().tool("buy", { output: z.object({ at: z.date() }) }, () => ({ at: new Date() })),
    "invalid_schema",
    /"buy" output/,
    /types that JSON has/,
  ],
  [
    "a reference into the network",
    () =>
      server().tool("buy", { input: { type: "object", properties: { a: { $ref: "https://example.com/a" } } } }, noop),
    "invalid_schema",
    /"buy" input.*\/properties\/a/,
    /\$defs/,
  ],
  [
    "a keyword of the wrong shape",
    () => server().tool("buy", { input: { type: "object", required: loosely("a") } }, noop),
    "invalid_schema",
    /"buy" input.*required/,
    /path/,
  ],
  ["an address without a scheme", () => connect("localhost:3000/mcp"), "connect_failed", /localhost:3000/, /http:\/\//],
  ["the address of a WebSocket", () => connect("ws://localhost:3000"), "connect_failed", /ws:/, /webSocketTransport/],
  ["nothing to connect to", () => connect(loosely(undefined)), "connect_failed", /nothing/, /URL/],
  [
    "a revision that does not exist",
    () => connect(server(), { revisions: [loosely("2025-11-26")] }),
    "unsupported_version",
    /`revisions`/,
    /2025-11-25/,
  ],
];

describe("the mistake of", () => {
  it.each(MISTAKES)(
    "%s is told where it is made, with what to write instead",
    async (_what, mistake, kind, message, fix) => {
      const error = await new Promise((resolve) => resolve(mistake())).catch((reason: unknown) => reason);
      expect(McpError.is(error), String(error)).toBe(true);
      expect(error).toMatchObject({
        kind,
        message: expect.stringMatching(message),
        fix: expect.stringMatching(fix),
      });
    },
  );
});
