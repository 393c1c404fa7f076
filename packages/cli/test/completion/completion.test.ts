import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import { ALL_COMMANDS } from "../../src/commands/all-commands.js";
import { server } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";

/** What bash offers for the words of a command line. */
function offered(script: string, ...words: string[]): string[] {
  // Bash makes words of ":" and "=".
  const broken = words.flatMap((word) => (word === "" ? [""] : word.split(/([:=]+)/).filter((part) => part !== "")));
  const program = `${script}
COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
COMP_WORDS=(${broken.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${broken.length - 1}
COMP_LINE='${words.join(" ")}'; COMP_POINT=\${#COMP_LINE}
_parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["--norc", "-c", program], { encoding: "utf8", cwd: "/" }).trim().split("\n");
}

describe("parley completion", () => {
  it("offers every command, the options of each, and the values of options in bash", async () => {
    const { code, stdout } = await runParley(["completion", "bash"]);
    expect(code).toBe(0);
    for (const { name } of ALL_COMMANDS) expect(offered(stdout, "parley", name.slice(0, -1))).toContain(name);
    expect(offered(stdout, "parley", "ping", "--cou")).toEqual(["--count"]);
    expect(offered(stdout, "parley", "ping", "x", "--revision", "2026")).toEqual(["2026-07-28"]);
    for (const outer of ALL_COMMANDS.filter(({ commands = [] }) => commands.length > 0)) {
      expect(offered(stdout, "parley", outer.name, "")).toEqual(
        expect.arrayContaining(outer.commands?.map(({ name }) => name) ?? []),
      );
    }
  });

  it.each(["zsh", "fish"])("is a script that %s can read", async (shell) => {
    const { code, stdout } = await runParley(["completion", shell]);
    expect(code).toBe(0);
    for (const { name } of ALL_COMMANDS) expect(stdout).toContain(name);
    const checked = spawnSync(shell, ["-n", "-c", stdout], { encoding: "utf8" });
    if (checked.error !== undefined) console.log(`${shell} is not installed: its script was not read by it`);
    else expect(checked.stderr).toBe("");
  });

  it("offers commands and options in fish", async () => {
    const { stdout } = await runParley(["completion", "fish"]);
    const ask = (line: string) =>
      spawnSync("fish", ["--no-config", "-c", `${stdout}\ncomplete -C '${line}'`], { encoding: "utf8" });
    const commands = ask("parley pin");
    if (commands.error !== undefined) return console.log("fish is not installed: it completed nothing");
    expect(commands.stdout).toContain("ping");
    expect(ask("parley ping --cou").stdout).toContain("--count");
    expect(ask("parley ping x --revision 2026").stdout).toContain("2026-07-28");
  });

  it("offers the names of configured servers, and what those offer that the user has configured", async () => {
    const home = mkdtempSync(join(tmpdir(), "parley-completion-"));
    const handle = await serveHttp(server, { port: 0 });
    try {
      mkdirSync(join(home, ".cursor"));
      mkdirSync(join(home, "project"));
      writeFileSync(join(home, ".cursor/mcp.json"), JSON.stringify({ mcpServers: { mine: { url: handle.url } } }));
      const started = join(home, "started");
      const program = { command: process.execPath, args: ["-e", `fs.writeFileSync(${JSON.stringify(started)}, "")`] };
      writeFileSync(join(home, "project/.mcp.json"), JSON.stringify({ mcpServers: { theirs: program } }));
      const words = async (...typed: string[]) => {
        const { stdout } = await runParley(["completion", "words", "--", ...typed], {
          home,
          cwd: join(home, "project"),
        });
        return stdout.trim().split("\n");
      };
      expect(await words("call", "")).toEqual(["theirs", "mine"]);
      expect(await words("call", "mi")).toEqual(["mine"]);
      expect(await words("call", "mine", "--timeout", "3s", "a")).toEqual(["add"]);
      expect(await words("call", handle.url, "a")).toEqual(["add"]);
      expect(await words("read", "mine", "note:")).toContain("note://today");
      expect(await words("prompt", "mine", "rev")).toEqual(["review"]);
      // A program that a folder brings along is not started by completing a word.
      expect(await words("call", "theirs", "")).toEqual([""]);
      expect(existsSync(started)).toBe(false);
      expect(await words("cal")).toEqual(["call"]);
      expect(await words("skills", "s")).toEqual(["save"]);
      expect(await words("call", "--rev")).toEqual(["--revision"]);
      expect(await words("call", "--revision", "2026")).toEqual(["2026-07-28"]);
    } finally {
      await handle.close();
      rmSync(home, { recursive: true });
    }
  });

  it("asks this program for names in every shell", async () => {
    for (const shell of ["bash", "zsh", "fish", "powershell"]) {
      const { code, stdout } = await runParley(["completion", shell]);
      expect(stdout).toMatch(/parley completion words '?--'? /);
      expect(code).toBe(0);
    }
    const { stdout } = await runParley(["completion", "bash"]);
    const fake = `parley() { printf '%s\\n' 'my-server' '$(exit 7)'; }\n${stdout}`;
    expect(offered(fake, "parley", "call", "my")).toEqual(["my-server", "$(exit 7)"]);
    expect(offered(fake, "parley", "call", "--time")).toEqual(["--timeout"]);
  });

  it("completes words with a colon or an equals sign in bash, from the last of them on", async () => {
    const { stdout } = await runParley(["completion", "bash"]);
    // Gives back the words that it was asked for.
    const echo = `parley() { shift 3; printf '%s\\n' "$*" "\${@: -1}x"; }\n${stdout}`;
    expect(offered(echo, "parley", "read", "mine", "note://to")).toEqual(["read mine note://to", "//tox"]);
    expect(offered(echo, "parley", "call", "http://h:1/mcp", "a")).toEqual(["call http://h:1/mcp a", "ax"]);
    expect(offered(echo, "parley", "call", "mine", "t", "city=O")).toEqual(["call mine t city=O", "Ox"]);
    expect(offered(echo, "parley", "read", "mine", "")).toEqual(expect.arrayContaining(["read mine ", "x"]));
  });

  it("offers no names that look like options, and gives up a server that lists without end", async () => {
    const home = mkdtempSync(join(tmpdir(), "parley-completion-"));
    const odd = new Server({ name: "odd", version: "1" }).tool("-danger", {}, () => "").tool("fine", {}, () => "");
    const endless = new Server({ name: "endless", version: "1" }).tool("t", {}, () => "");
    let pages = 0;
    endless.use(async (call, next) => {
      const result = await next();
      if (call.method !== "tools/list") return result;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return { ...result, nextCursor: String(pages++) };
    });
    const [first, second] = [await serveHttp(odd, { port: 0 }), await serveHttp(endless, { port: 0 })];
    try {
      const words = async (...typed: string[]) =>
        (await runParley(["completion", "words", "--", ...typed], { home, cwd: home })).stdout.trim().split("\n");
      expect(await words("call", first.url, "")).toEqual(["fine"]);
      expect(await words("call", second.url, "")).toEqual([""]);
      expect(pages).toBeGreaterThan(0);
    } finally {
      await first.close();
      await second.close();
      rmSync(home, { recursive: true });
    }
  });

  it.each([[["completion"]], [["completion", "tcsh"]]])("%j names the shells that it knows", async (args) => {
    const { code, stderr } = await runParley(args);
    expect(stderr).toContain("bash, zsh, fish");
    expect(code).toBe(2);
  });
});

describe("parley --help", () => {
  it.each(ALL_COMMANDS.map(({ name }) => [name]))("%s has a summary, options and examples", async (name) => {
    const { code, stdout } = await runParley([name, "--help"]);
    expect(code).toBe(0);
    const { commands = [], examples } = ALL_COMMANDS.find((one) => one.name === name) ?? { examples: [] };
    if (commands.length === 0) expect(examples.length, "examples").toBeGreaterThan(0);
    for (const { line } of examples) expect(stdout).toContain(line);
  });

  it("lists every command", async () => {
    const { stdout } = await runParley(["--help"]);
    for (const { name, summary } of ALL_COMMANDS) {
      expect(stdout).toContain(name);
      expect(stdout.replace(/\s+/g, " ")).toContain(summary.replace(/\s+/g, " "));
    }
  });
});
