import { describe, expect, it } from "vitest";
import { shownCommand } from "./stdio-client.js";

describe("a command in a message", () => {
  it.each([
    [["-y", "@x/server", "--verbose"], "npx -y @x/server --verbose"],
    [["--api-key", "sk-1", "--port", "80"], "npx --api-key … --port 80"],
    [["--api-key=sk-1", "API_TOKEN=t", "-e", "PASSWORD=p"], "npx --api-key=… API_TOKEN=… -e PASSWORD=…"],
    [["--header", "Authorization: Bearer t"], "npx --header Authorization: …"],
    [["mcp-remote", "https://host/mcp?key=k&x"], "npx mcp-remote https://host/mcp?key=…&…"],
    [["pg", "postgresql://ada:p@ss@host/db?sslmode=no"], "npx pg postgresql://…@host/db?sslmode=…"],
    [["-e", `line\n${"x".repeat(200)}`], `npx -e line\\n${"x".repeat(115)}…`],
    [["--author", "Ada", "keyboard.js"], "npx --author Ada keyboard.js"],
  ])("keeps what names %j, and none of its secrets", (args, shown) => {
    expect(shownCommand("npx", args)).toBe(shown);
  });
});
