import { McpError } from "@parley/mcp/protocol";
import { expect, it } from "vitest";
import { toProblemInfo } from "../../src/engine/problem-info.js";

it.each([
  [
    "Check that the command is an MCP server in stdio mode, or raise `timeouts.connectMs`.",
    "Check that the command is an MCP server in stdio mode, or raise --timeout of `parley inspect`.",
  ],
  [
    "Run the command in a terminal to see why it exits; `data.stderr` has its last lines.",
    "Run the command in a terminal to see why it exits; the details have its last lines.",
  ],
  [
    "Pass API_KEY in `env`; a server inherits only a few variables.",
    "Pass API_KEY with --env of `parley inspect`, or in `env` of its configuration; a server inherits only a few variables.",
  ],
  [
    "Add one of these revisions to the `revisions` option, or update the client or the server.",
    "Choose another revision, or let it be negotiated.",
  ],
  [
    "Register a client there and pass it as `client`, or publish a client metadata document and pass its address as `clientMetadataUrl`.",
    "Register a client there and log in with `parley login --client-id`, whose tokens `parley inspect` uses.",
  ],
  ["Pass credentials to `connect` in `headers`.", "Connect again, with credentials as a header."],
  ["Ask for less at once, or raise `maxMessageBytes` of `connect` or of the transport.", "Ask for less at once."],
  [
    "Call only methods that the server's capabilities include; see `client.serverCapabilities`.",
    "Call only methods that the server's capabilities include; the view Server shows them.",
  ],
  [
    "Look at `client.serverCapabilities` before calling.",
    "Look at the capabilities in the view Server before calling.",
  ],
  ["Check the path of the address; MCP servers often listen at `/mcp`.", undefined],
])("advice of the library is given in words of the page: %s", (fix, expected) => {
  expect(toProblemInfo(new McpError("internal_error", "wrong", { fix })).fix).toBe(expected ?? fix);
});

it("the code of an error is shown where the server sent it", () => {
  const error = (remote: boolean) => new McpError("peer_error", "the database is down", { code: -32000, remote });
  expect(toProblemInfo(error(true)).code).toBe(-32000);
  expect(toProblemInfo(error(false))).not.toHaveProperty("code");
});
