import { describe, expect, it } from "vitest";
import { RpcError } from "../../jsonrpc/error.js";
import { ERROR_KINDS, McpError } from "../../protocol/error.js";
import { isServerFailure } from "./circuit-breaker.js";

describe("a failure of a server", () => {
  it("is a connection that is lost or silent, and nothing else", () => {
    const failures = ERROR_KINDS.filter((kind) => isServerFailure(new McpError(kind, "")));
    expect(failures.toSorted()).toEqual([
      "connect_failed",
      "connection_closed",
      "session_lost",
      "timeout",
      "transport_error",
    ]);
  });

  it.each([
    [404, false],
    [429, false],
    [500, true],
    [503, true],
  ])("over HTTP with status %d: %s", (status, expected) => {
    expect(isServerFailure(new McpError("transport_error", "", { data: { status } }))).toBe(expected);
  });

  it.each([
    new McpError("timeout", "the tool was too slow", { remote: true }),
    McpError.from(new RpcError(-32603, "it broke")),
    new DOMException("stop", "AbortError"),
    "a string",
    undefined,
  ])("is not what a server says, nor what is no error of this library: %s", (error) => {
    expect(isServerFailure(error)).toBe(false);
  });
});
