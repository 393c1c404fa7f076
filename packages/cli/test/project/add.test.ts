// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of configurations look like placeholders
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";

describe("parley add and remove", () => {
  let place: string;
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), "parley-add-"));
  });
  afterEach(() => rmSync(place, { recursive: true, force: true }));

  const run = (...args: string[]) => runParley(args, { cwd: place, home: place, env: { PATH: "" } });
  const read = (path: string) => readFileSync(join(place, path), "utf8");
  const write = (path: string, text: string) => {
    mkdirSync(join(place, path, ".."), { recursive: true });
    writeFileSync(join(place, path), text);
  };

  it.each([
    ["claude", ".config/Claude/claude_desktop_config.json", { type: "http", url: "https://example.com/mcp" }],
    ["claude-code", ".claude.json", { type: "http", url: "https://example.com/mcp" }],
    ["cursor", ".cursor/mcp.json", { url: "https://example.com/mcp" }],
    ["gemini", ".gemini/settings.json", { url: "https://example.com/mcp" }],
    ["windsurf", ".codeium/windsurf/mcp_config.json", { type: "http", url: "https://example.com/mcp" }],
  ])("writes the file of %s, and takes the server out again", async (to, path, entry) => {
    if (process.platform !== "linux" && to === "claude") return expect(process.platform).not.toBe("linux");
    const added = await run("add", "https://example.com/mcp", "--to", to);
    expect(added).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(read(path))).toEqual({ mcpServers: { "example-com": entry } });
    expect(statSync(join(place, path)).mode & 0o777).toBe(0o600);
    const removed = await run("remove", "example-com", "--from", to);
    expect(removed.code).toBe(0);
    expect(removed.stdout).toContain("which had no other content");
    expect(existsSync(join(place, path))).toBe(false);
  });

  it("leaves nothing in a project whose only server is taken out, and an empty list as it was", async () => {
    await run("add", "https://example.com/mcp", "--to", "cursor", "--project");
    await run("add", "https://example.com/mcp", "--to", "cursor", "--project", "--name", "other");
    await run("remove", "other", "--from", "cursor", "--project");
    await run("remove", "example-com", "--from", "cursor", "--project");
    expect(readdirSync(join(place, ".cursor"))).toEqual([]);
    expect(readdirSync(join(place, ".config/parley/backups"))).toHaveLength(3);
    for (const text of ['{ "mcpServers": {} }', '// mine\n{ "mcpServers": {} }\n']) {
      write(".cursor/mcp.json", text);
      await run("add", "https://example.com/mcp", "--to", "cursor", "--project");
      await run("remove", "example-com", "--from", "cursor", "--project");
      expect(read(".cursor/mcp.json")).toBe(text);
    }
  });

  it("keeps comments, other entries, the mode and a backup, and gives the file back as it was", async () => {
    const text = '// mine\n{\n    "servers": { "a": { "command": "a" }, /* b */ },\n    "inputs": [], // none\n}\n';
    write(".vscode/mcp.json", text);
    chmodSync(join(place, ".vscode/mcp.json"), 0o640);
    const { code } = await run("add", "--to", "vscode", "--project", "--", "npx", "-y", "@scope/server-notes@1.2.3");
    expect(code).toBe(0);
    expect(read(".vscode/mcp.json")).toContain('"notes"');
    expect(read(".vscode/mcp.json")).toContain('"a": { "command": "a" }, /* b */');
    expect(readdirSync(join(place, ".vscode"))).toEqual(["mcp.json"]);
    const [backup = "", ...others] = readdirSync(join(place, ".config/parley/backups"));
    expect(read(join(".config/parley/backups", backup))).toBe(text);
    expect(others).toEqual([]);
    expect(statSync(join(place, ".vscode/mcp.json")).mode & 0o777).toBe(0o640);
    expect((await run("remove", "notes", "--from", "vscode", "--project")).code).toBe(0);
    expect(read(".vscode/mcp.json")).toBe(text);
  });

  it("keeps three backups at most, and follows links", async () => {
    write("real.json", "{}\n");
    mkdirSync(join(place, ".cursor"));
    symlinkSync(join(place, "real.json"), join(place, ".cursor/mcp.json"));
    for (let at = 0; at < 6; at++) await run("add", "https://example.com/mcp", "--to", "cursor", "--name", `s${at}`);
    expect(Object.keys(JSON.parse(read("real.json")).mcpServers)).toHaveLength(6);
    expect([".bak", ".bak.1", ".bak.2", ".bak.3"].map((end) => existsSync(join(place, `real.json${end}`)))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it("refuses to replace a server unless it is forced", async () => {
    write(".mcp.json", '{ "mcpServers": { "x": { "command": "old" } } }');
    const refused = await run("add", "https://example.com/mcp", "--to", "claude-code", "--project", "--name", "x");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('already has a server "x"');
    expect(read(".mcp.json")).toContain("old");
    await run("add", "https://example.com/mcp", "--to", "claude-code", "--project", "--name", "x", "--force");
    expect(JSON.parse(read(".mcp.json")).mcpServers.x).toEqual({ type: "http", url: "https://example.com/mcp" });
  });

  it("writes TOML for Codex, with variables by their names, and takes it out again", async () => {
    const text = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "o" # c\n';
    write(".codex/config.toml", text);
    const secret = ["--env", "API_KEY=abcdefgh12345678", "--env", "MODE=fast"];
    const { code, stderr } = await run("add", "--to", "codex", "--name", "n", ...secret, "--", "serve");
    expect(code).toBe(0);
    expect(stderr).toContain("for Codex: API_KEY");
    expect(read(".codex/config.toml")).toBe(
      `${text}\n[mcp_servers.n]\ncommand = "serve"\nargs = []\nenv = { MODE = "fast" }\nenv_vars = ["API_KEY"]\n`,
    );
    await run("remove", "n", "--from", "codex");
    expect(read(".codex/config.toml")).toBe(text);
  });

  it.each([
    ["claude-code", ".claude.json", "Bearer ${EXAMPLE_COM_TOKEN}"],
    ["cursor", ".cursor/mcp.json", "Bearer ${env:EXAMPLE_COM_TOKEN}"],
  ])("writes secrets of %s as references, and says what to set", async (to, path, value) => {
    const header = ["--header", "Authorization: Bearer abcdefgh12345678"];
    const { stderr } = await run("add", "https://example.com/mcp", "--to", to, ...header);
    expect(stderr).toContain(": EXAMPLE_COM_TOKEN");
    expect(JSON.parse(read(path)).mcpServers["example-com"].headers).toEqual({ Authorization: value });
    await run("add", "https://example.com/mcp", "--to", to, ...header, "--force", "--inline-secrets");
    expect(read(path)).toContain("abcdefgh12345678");
  });

  it("warns where an application has no references", async () => {
    const { stderr } = await run("add", "--to", "windsurf", "--env", "API_KEY=abc12345678", "--", "serve");
    expect(stderr).toContain("API_KEY will be readable in the file");
    expect(stderr).not.toContain("abc12345678");
  });

  it("copies a configured server with its references", async () => {
    write(".mcp.json", '{ "mcpServers": { "gh": { "command": "gh", "env": { "TOKEN": "${GH:-none}" } } } }');
    const { code } = await run("add", "gh", "--to", "gemini");
    expect(code).toBe(0);
    expect(JSON.parse(read(".gemini/settings.json")).mcpServers.gh).toMatchObject({ env: { TOKEN: "${GH:-none}" } });
  });

  it("starts modules by absolute paths, and programs too", async () => {
    write("notes/src/server.ts", "");
    await run("add", "notes/src/server.ts", "--to", "cursor");
    await run("add", "--to", "cursor", "--name", "program", "--", "node", "notes/src/server.ts", "--flag");
    const { mcpServers } = JSON.parse(read(".cursor/mcp.json"));
    expect(mcpServers.notes.args.slice(-3)).toEqual(["run", join(place, "notes/src/server.ts"), "--stdio"]);
    expect(mcpServers.program.args).toEqual([join(place, "notes/src/server.ts"), "--flag"]);
  });

  it("gives a module that is started as a program its variables and its folder", async () => {
    write("notes/src/server.ts", "");
    const given = ["--env", "API_KEY=abcdefgh12345678", "--env", "MODE=fast"];
    const { code, stderr } = await run("add", "./notes/src/server.ts", "--to", "cursor", ...given);
    expect(stderr).toContain("for Cursor: API_KEY");
    expect(code).toBe(0);
    expect(JSON.parse(read(".cursor/mcp.json")).mcpServers.notes).toMatchObject({
      env: { API_KEY: "${env:API_KEY}", MODE: "fast" },
    });
    await run("add", "./notes/src/server.ts", "--to", "gemini", "--cwd", "notes");
    expect(JSON.parse(read(".gemini/settings.json")).mcpServers.notes.cwd).toBe(join(place, "notes"));
    const wrong = await run("add", "./notes/src/server.ts", "--to", "cursor", "--header", "A: b", "--force");
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--header works only with a server at a URL"),
    });
  });

  it("shows the change of a dry run without secrets, and makes none", async () => {
    const env = ["--env", "API_KEY=abc12345678", "--inline-secrets"];
    const { stdout, code } = await run("add", "--to", "cursor", "--name", "x", ...env, "--dry-run", "--", "serve");
    expect(code).toBe(0);
    expect(stdout).toContain('+     "x": {');
    expect(stdout).not.toContain("abc12345678");
    expect(existsSync(join(place, ".cursor"))).toBe(false);
    const json = await run("add", "https://example.com/mcp", "--to", "cursor", "--dry-run", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ action: "added", dryRun: true, name: "example-com" });
  });

  it.each([
    [["add", "https://example.com/mcp"], "which application?"],
    [["add", "--to", "cursor"], "which server?"],
    [["add", "https://example.com/mcp", "--to", "windsurf", "--project"], "has no configuration file for projects"],
    [["add", "https://example.com/mcp", "--to", "cursor", "--name", "a b"], "is not a valid server name"],
    [["add", "https://example.com/mcp", "--to", "gemini"], "is not valid JSON at line 2"],
    [["remove", "--from", "cursor"], "which server?"],
    [["remove", "x", "--from", "cursor"], 'has no server "x"'],
  ])("%j fails with its cause and a fix", async (args, cause) => {
    write(".gemini/settings.json", '{\n  "mcpServers: {}\n}\n');
    const { code, stderr } = await run(...args);
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(2);
    expect(read(".gemini/settings.json")).toBe('{\n  "mcpServers: {}\n}\n');
  });
});
