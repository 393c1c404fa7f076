import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { COMPOSED, IN_EVERY_RUN, SHORT_FORMS } from "../scripts/contributor-commands.mjs";

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
    const known = new Set([...IN_EVERY_RUN, ...COMPOSED, ...Object.keys(SHORT_FORMS)]);
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
