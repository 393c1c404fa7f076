import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../../..");
const sources = join(root, "packages/mcp/src");

function readAll(folder: string, wanted: RegExp): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => wanted.test(file));
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

/** What the public declarations say: as the API reference lists them, and the groups of options that it names only. */
const GROUPS = ["server/contract/options.ts", "server/contract/tool.ts", "client/contract/options.ts"];
const reference = [
  ...readAll(join(root, "docs/api"), /\.md$/).values(),
  ...GROUPS.map((file) => readFileSync(join(sources, file), "utf8")),
].join("\n");

/** Names in a `fix` that no program passes as an option: data of errors, messages of the protocol, words of languages, options of Node, former names. */
const NO_OPTION = new Set(
  `action cause data default format initialize properties requestedSchema result tools/list type undefined null true false string object
   tool_use tool_result enum default pattern items anyOf const ref _meta decline cancel ws mcp cert
   auto client_id function_call tool_calls say`.split(/\s+/),
);

/** The back-ticked names of each `fix`: single words and paths, without calls and code. */
function namedIn(text: string): string[] {
  const fixes = [...text.matchAll(/\bfix:\s*((?:[^\n]*\n){1,4}?)[^\n]*\n?/g)].map((match) => match[0]);
  // The default advice of each kind of error.
  if (text.includes("const KINDS = {"))
    fixes.push(text.slice(text.indexOf("const KINDS = {"), text.indexOf("} as const;")));
  const quoted = fixes.flatMap((fix) => [...fix.matchAll(/\\?`([A-Za-z_][\w.]*)\\?`/g)].map((match) => match[1] ?? ""));
  return quoted.filter((name) => !NO_OPTION.has(name) && !name.startsWith("data."));
}

/** Whether a name is a member of a public type: an option if `path`, otherwise a method, class or function too. */
function isKnown(name: string, path: boolean): boolean {
  const forms = path ? `\\b${name}\\??: ` : `\\b${name}\\??[:(<]|\\b(?:class|function|const) ${name}\\b`;
  return new RegExp(forms).test(reference);
}

it("every option that a `fix` names exists in a public type", () => {
  const unknown: string[] = [];
  let names = 0;
  for (const [file, text] of readAll(sources, /(?<!\.test)\.ts$/)) {
    for (const name of namedIn(text)) {
      names++;
      const [first = "", ...path] = name.split(".");
      const api = first === "ctx" || first === "client" || first === "server";
      const members = api ? path : [first, ...path];
      const missing = members.filter((part) => !isKnown(part, !api && path.length > 0));
      if (missing.length > 0) unknown.push(`${file}: ${name}`);
    }
  }
  expect(unknown).toEqual([]);
  expect(names).toBeGreaterThan(60);
});
