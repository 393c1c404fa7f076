import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { region } from "./region.js";

const root = resolve(import.meta.dirname, "..");

/** When the code of each package is loaded. */
const LOADED: Readonly<Record<string, string>> = {
  "@standard-schema/spec": "never: types alone",
  "cross-spawn": "when a client starts a program on Windows",
  "eventsource-parser": "with the first event stream that a client reads",
  jose: "with `@parley/mcp/auth`",
  oauth4webapi: "with `@parley/mcp/auth`",
};

const manifest = (folder: string) =>
  // Written by npm, or by this repository.
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    version: string;
    dependencies?: Record<string, string>;
  };

const installed = (name: string) => join(root, "node_modules", name);

/** The package and all that it brings. */
function withOwn(name: string): string[] {
  return [name, ...Object.keys(manifest(installed(name)).dependencies ?? {}).flatMap(withOwn)];
}

function bytesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => !/(^|[\\/])node_modules[\\/]/.test(file))
    .map((file) => statSync(join(folder, file)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
}

it("what the packages of the library cost to install is on their page", () => {
  const names = Object.keys(manifest(join(root, "packages/mcp")).dependencies ?? {});
  const rows = names.map((name) => {
    const own = [...new Set(withOwn(name))];
    const kilobytes = Math.round(
      own.map((each) => bytesOf(installed(each))).reduce((sum, size) => sum + size, 0) / 1000,
    );
    return `| \`${name}\` ${manifest(installed(name)).version} | ${own.length} | ${kilobytes} KB | ${LOADED[name] ?? ""} |`;
  });
  const table = ["| package | packages | installed | loaded |", "|---|--:|--:|---|", ...rows, ""].join("\n");
  expect(Object.keys(LOADED).sort()).toEqual([...names].sort());
  expect(region("docs/dependencies.md", "installed", table)).toBe(table);
});
