import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { areasOf, problemsOf } from "../scripts/check-commits.mjs";
import { findingsIn } from "../scripts/check-words.mjs";
import { COMPOSED, IN_EVERY_RUN, IN_TESTS, SHORT_FORMS } from "../scripts/contributor-commands.mjs";

const root = resolve(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const guide = read("CONTRIBUTING.md");
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };

/** Every command in back ticks, in the table and in the text. */
function commandsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`((?:npm|npx|node|\.ci)[ /][^`]+)`/g)].map(([, command = ""]) => command);
  return [...new Set(quoted)];
}

describe("CONTRIBUTING.md", () => {
  it("names no command that is not executed by the test command", () => {
    const known = new Set([...IN_EVERY_RUN, ...COMPOSED, ...Object.keys({ ...IN_TESTS, ...SHORT_FORMS })]);
    // Forms of `npx vitest run <path>` that only name a path.
    const unknown = commandsIn(guide).filter(
      (command) => !known.has(command) && !/^npx vitest run \S+( -u)?$/.test(command),
    );
    expect(unknown).toEqual([]);
    for (const command of known) expect(guide, command).toContain(`\`${command}\``);
  });

  it("is right about what every run executes", () => {
    const [ci, test] = [read(".ci/run"), read("scripts/test.mjs")];
    for (const command of IN_EVERY_RUN) {
      const script = /^npm run (.+)$/.exec(command)?.[1];
      if (script === undefined) expect(ci, command).toContain(command);
      else expect(test, command).toContain(`npm("${script}")`);
    }
    expect(test).toContain("check-commands.mjs");
    for (const [command, file] of Object.entries(IN_TESTS)) {
      const script = command.slice("npm run ".length);
      expect(read(file), command).toMatch(new RegExp(`npm run (--silent )?${script}\\b`));
    }
  });

  it("names every script of the workspace", () => {
    const named = [...commandsIn(guide), ...COMPOSED];
    for (const script of Object.keys(scripts)) {
      const short = script === "test" || script === "start" ? `npm ${script}` : `npm run ${script}`;
      expect(
        named.some((command) => command === short || command.startsWith(`${short} `)),
        short,
      ).toBe(true);
    }
  });

  it("has a map: every folder of the tests, and every path that it names exists", () => {
    const folders = readdirSync(join(root, "packages/mcp/test"), { withFileTypes: true });
    for (const { name } of folders.filter((one) => one.isDirectory())) expect(guide, name).toContain(`${name}/`);
    // What the build writes is not there before it.
    const places = ["", "packages/mcp", "packages/mcp/src", "packages/mcp/test"];
    const paths = [...guide.matchAll(/`([\w.-]+(?:\/[\w.-]+)+)\/?`|\]\(([\w./-]+)\)/g)].map(([, a, b]) => a ?? b ?? "");
    const missing = paths.filter(
      (path) =>
        !/^json-schema-org\/|\/dist$/.test(path) && !places.some((place) => existsSync(join(root, place, path))),
    );
    expect(missing).toEqual([]);
  });
});

describe("the rules for words that lint checks", () => {
  const findings = (text: string) => findingsIn("packages/mcp/src/sample.ts", text);

  it.each([
    "/** What is sent to the server. */",
    "/** Whether the client can. */",
    "// Those who wait are told.",
    "/** Closes the stream, so that nobody waits. */",
    "// The list is made anew.",
    "// A token that is no token.",
    `/** Sends ${"a word and ".repeat(20)}the end. */`,
    "const NOTHING = {};",
    "const MOST_ROWS = 5;",
    "const SHORTEST_SECRET = 32;",
    "interface CallParts {}",
    "interface StreamHost {}",
    'throw new Error("there is nobody to ask");',
    `throw new Error(\`\${name} asks in vain\`);`,
  ])("refuse %s", (text) => {
    expect(findings(`${text}\nexport const x = 1;\n`)).toHaveLength(1);
  });

  it.each([
    "/** Sends a request, and resolves with the result. */",
    "/** True if the client declared sampling. */",
    "/** What if the storage fails? Then the call is refused. */",
    "/** The stream is no longer read. */",
    'const key = "anew";',
    "const MAX_ROWS = 5;",
    "interface AppHost {}",
    "/**\n * Sends.\n *\n * @example\n * ```ts\n * // What a sample says is its own matter.\n * ```\n */",
  ])("accept %s", (text) => {
    expect(findings(`${text}\nexport const x = 1;\n`)).toEqual([]);
  });
});

describe("the form of commits", () => {
  const areas = areasOf();

  it.each([
    "server: refuse a tool without a name",
    "transport/http: close idle streams",
    "docs: process pages in one pass",
    "cli: print the port",
    'Revert "server: refuse a tool without a name"',
  ])("accepts %s", (subject) => {
    expect(problemsOf(subject, areas)).toEqual([]);
  });

  it.each([
    ["Refuse a tool without a name", "area"],
    ["kitchen: refuse a tool", "not a room"],
    ["server: refused a tool", "imperative"],
    ["server: refuses a tool", "imperative"],
    ["server: refusing a tool", "imperative"],
    ["server: Refuse a tool", "lower case"],
    ["server: refuse a tool.", "period"],
    [`server: refuse ${"a tool and ".repeat(7)}more`, "72"],
  ])("refuses %s", (subject, why) => {
    expect(problemsOf(subject, areas).join()).toContain(why);
  });
});
