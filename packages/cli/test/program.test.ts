import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { COMMAND_GROUPS } from "../src/commands/all-commands.js";
import { runParley } from "./kit/run-parley.js";

describe("a command line that is wrong", () => {
  it.each([
    [
      "an unknown option",
      ["call", "--jsn"],
      /^error: unknown option '--jsn'\nfix: {3}Did you mean --json\? See `parley call/,
    ],
    [
      "an unknown command",
      ["lits"],
      /^error: unknown command 'lits'\nfix: {3}Did you mean list\? See `parley --help`\.\n$/,
    ],
    [
      "a value that is no choice",
      ["list", "--revision", "1"],
      /^error: .*Allowed choices.*\nfix: {3}See `parley list --help`/,
    ],
  ])("is told with cause and fix: %s", async (_, args, expected) => {
    const { code, stdout, stderr } = await runParley(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(expected);
  });

  it.each([
    [["ping", "main.ts", "more"], "more", "Use `parley ping <target>`."],
    [["info", "more", "--", "node"], "more", "Use `parley info <target>`."],
    [["record", "main.ts", "more", "-o", "x"], "more", "Use `parley record <target> -o <file>`."],
    [["tree", "one", "two"], "two", "Use `parley tree [pid|name]`."],
  ])("is one with a word that is not read: %s", async (args, word, fix) => {
    const { code, stderr } = await runParley(args);
    expect(code).toBe(2);
    expect(stderr).toContain(`error: unexpected argument "${word}"\n`);
    expect(stderr).toContain(fix);
  });

  it("is told in JSON on stdout with --json", async () => {
    const { code, stdout, stderr } = await runParley(["call", "--json", "--jsn"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      error: {
        kind: "usage",
        message: "unknown option '--jsn'",
        fix: "Did you mean --json? See `parley call --help`.",
      },
    });
  });
});

describe("help", () => {
  it("is grouped as the page about the command line groups the commands", async () => {
    const { stdout } = await runParley(["--help"]);
    const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8");
    const rows = [...page.matchAll(/^\| (?:\[|below)[^|]*\| (`[^|]*`) \|$/gm)].map(([, names = ""]) =>
      names.replaceAll("`", ""),
    );
    const groups = COMMAND_GROUPS.map(({ commands }) => commands.map(({ name }) => name).join(", "));
    expect(groups).toEqual(rows);
    expect(stdout.match(/^[A-Z].*:$/gm)).toEqual([
      ...["Options:", ...COMMAND_GROUPS.map(({ title }) => `${title}:`), "Commands:"].filter((line) =>
        stdout.includes(`\n${line}\n`),
      ),
    ]);
    expect(stdout.indexOf("Using a server:")).toBeGreaterThan(0);
  });

  it.each([
    [["help", "calls"], "unknown command 'calls'\nfix:   Did you mean call?"],
    [["help", "skills", "lst"], "unknown command 'lst'\nfix:   Did you mean list?"],
  ])("of %j is refused, with the nearest command", async (args, said) => {
    const { code, stdout, stderr } = await runParley(args);
    expect(stderr).toContain(said);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });

  it("is shown by `help` and by --help", async () => {
    for (const [asked, same] of [
      [["help"], ["--help"]],
      [
        ["help", "call"],
        ["call", "--help"],
      ],
      [
        ["help", "skills", "save"],
        ["skills", "save", "--help"],
      ],
    ] as const) {
      const { code, stdout } = await runParley(asked);
      expect(code).toBe(0);
      expect(stdout).toBe((await runParley(same)).stdout);
    }
  });
});

describe("a command that is interrupted", () => {
  it("says so, in JSON with --json, and exits with 130", async () => {
    const signal = AbortSignal.abort(new Error("interrupted by SIGINT"));
    const args = ["ping", "http://127.0.0.1:1/mcp"];
    expect(await runParley(args, { signal })).toEqual({ code: 130, stdout: "", stderr: "interrupted\n" });
    const { code, stdout } = await runParley([...args, "--json"], { signal });
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toEqual({ error: { kind: "interrupted", message: "interrupted", fix: "" } });
  });
});
