import { McpError } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { loginAdvice, shellAdvice } from "./shell-advice.js";

describe("advice for a person at a shell", () => {
  it.each([
    [
      "Raise `timeouts.idleMs`, for this call or in `connect`, or let the server report progress.",
      "Raise --timeout, or let the server report progress.",
    ],
    [
      "Run the command in a terminal to see why it exits; `data.stderr` has its last lines.",
      "Run the command in a terminal to see why it exits; --debug shows every message, and the server's stderr.",
    ],
    [
      "Install the program, pass its full path as `command`, or set `PATH` in `env`.",
      "Install the program, use its full path, or set PATH with --env.",
    ],
    [
      "Pass API_KEY in `env`; a server inherits only a few variables.",
      "Pass API_KEY with --env NAME=value, or in `env` of its configuration.",
    ],
    ["Connect to that address, or set `allowCrossOriginRedirects`.", "Connect to that address."],
    ["Ask for less at once, or raise `maxMessageBytes` of `connect` or of the transport.", "Ask for less at once."],
    ["Look at `client.serverCapabilities` before calling.", "`parley info` shows what the server offers."],
    [
      "Add one of these revisions to the `revisions` option, or update the client or the server.",
      "Remove --revision, or use one that the server supports.",
    ],
    ["Pass an `input` function that returns it as a string.", "Pass --input name=value."],
    ["Pass `workspaceFolder`.", "Write the folder in full."],
    ["Pass `login` or `grant` to `oauth`.", "Run `parley login <url>`, or use --grant client-credentials."],
    ["See `data.steps` for what was tried; correct the first step that failed.", "Correct the first step that failed."],
    [
      "Set `dpop` to `auto` if tokens without proof of possession are acceptable.",
      "Set `dpop` to `auto` in the module that calls `oauth`, if tokens without proof of possession are acceptable.",
    ],
    ["Wait for `data.retryAfterMs` and call less often.", "Wait a while and call less often."],
    ["Check the path of the address; MCP servers often listen at `/mcp`.", undefined],
  ])("is that of the library in words of the command line: %s", (fix, expected) => {
    expect(shellAdvice(fix)).toBe(expected ?? fix);
  });
});

describe("advice for a token that lacks a scope", () => {
  const lacking = new McpError("insufficient_scope", "no", { data: { scopes: ["shop:buy", "shop:read"] } });
  const unnamed = new McpError("insufficient_scope", "no");

  it("is a login, or a scope of the grant where the token came from one", () => {
    expect(loginAdvice(lacking, "shop")?.fix).toBe("Run `parley login shop --scope shop:buy --scope shop:read`.");
    expect(loginAdvice(lacking, "shop", true)?.fix).toBe("Add --scope shop:buy --scope shop:read.");
    expect(loginAdvice(unnamed, "shop", true)).toEqual({ message: "no", fix: "Add --scope <scope>." });
    expect(loginAdvice(new McpError("auth_required", "no"), "shop", true)).toBeUndefined();
  });
});
