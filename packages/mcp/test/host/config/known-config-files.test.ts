import { knownConfigFiles } from "@parley/mcp/config";
import { expect, it } from "vitest";

const pathsOf = (...args: Parameters<typeof knownConfigFiles>) =>
  Object.fromEntries(
    knownConfigFiles(...args)
      .filter(({ scope }) => scope === "user")
      .map(({ application, path }) => [application, path]),
  );

it("finds the files of users on each system", () => {
  expect(pathsOf("darwin", "/Users/me", {})).toMatchObject({
    "Claude Desktop": "/Users/me/Library/Application Support/Claude/claude_desktop_config.json",
    "Claude Code": "/Users/me/.claude.json",
    "VS Code": "/Users/me/Library/Application Support/Code/User/mcp.json",
    "Gemini CLI": "/Users/me/.gemini/settings.json",
  });
  expect(pathsOf("linux", "/home/me", { XDG_CONFIG_HOME: "/cfg", CODEX_HOME: "/codex" })).toMatchObject({
    "VS Code": "/cfg/Code/User/mcp.json",
    Codex: "/codex/config.toml",
    Cursor: "/home/me/.cursor/mcp.json",
  });
  expect(pathsOf("win32", "C:\\Users\\me", { APPDATA: "C:\\Users\\me\\AppData\\Roaming" })).toMatchObject({
    "Claude Desktop": "C:\\Users\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
    Codex: "C:\\Users\\me\\.codex\\config.toml",
  });
});

it("says which form each file has, and which are of a project", () => {
  const files = knownConfigFiles("linux", "/home/me", {});
  expect(files.filter(({ format }) => format === "toml").map(({ dialect }) => dialect)).toEqual(["codex", "codex"]);
  expect(files.filter(({ scope }) => scope === "project").map(({ path }) => path)).toEqual([
    "parley.config.json",
    ".mcp.json",
    ".cursor/mcp.json",
    ".vscode/mcp.json",
    ".codex/config.toml",
    ".gemini/settings.json",
  ]);
});
