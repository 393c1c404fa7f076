import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const folder = join(root, `node_modules/.cache/parley/newcomer-${process.pid}`);

/** One mistake per line, and what the compiler says of it. */
const MISTAKES: [what: string, line: string, told: string][] = [
  [
    "a shape in place of a schema",
    "server.tool('t', { input: { text: z.string() } }, ({ text }) => text);",
    "Type '{ text: z.ZodString; }' is not assignable to type '\"This is an object of schemas, not a schema: write z.object({ … }) around it.\"'.",
  ],
  [
    "a result of another type",
    "server.tool('t', { output: z.object({ n: z.number() }) }, () => 5);",
    "Type 'number' is not assignable to type 'Promise<ToolResult<{ n: number; }> | { n: number; }> | ToolResult<{ n: number; }> | { n: number; }'.",
  ],
  [
    "a member of the wrong type",
    "server.tool('t', { output: z.object({ n: z.number() }) }, () => ({ n: '1' }));",
    "Type 'string' is not assignable to type 'number'.",
  ],
  [
    "a variable that the template does not have",
    "server.resourceTemplate('t://{name}{?page}', {}, ({ nam }) => nam);",
    "Property 'nam' does not exist on type '{ name: string; page?: string; }'.",
  ],
  [
    "a misspelt option of `connect`",
    "await connect(server, { timeout: 5 });",
    "Object literal may only specify known properties, but 'timeout' does not exist in type 'ClientOptions'. Did you mean to write 'timeouts'?",
  ],
  [
    "a misspelt option of a tool",
    "server.tool('t', { descripton: 'x' }, () => '');",
    "Object literal may only specify known properties, but 'descripton' does not exist in type 'ToolDefinition<undefined, undefined>'. Did you mean to write 'description'?",
  ],
  [
    "a tool that the server does not have",
    "await client.call('ad', {});",
    `Argument of type '"ad"' is not assignable to parameter of type '"add"'.`,
  ],
  [
    "a prompt that the server does not have",
    "await client.getPrompt('sun', {});",
    `Argument of type '"sun"' is not assignable to parameter of type '"sum"'.`,
  ],
];

/** What compiles: ways to write what new users asked for. */
const RIGHT = [
  // A handler may use the server that it is part of when it says what it returns.
  "export const own = new Server(info).tool('t', {}, (): string => String(own.remove('tool', 'other')));",
  "export const typed: ClientOf<typeof server> = client;",
];

const HEAD = [
  "import { type ClientOf, connect, Server } from '@parley/mcp';",
  "import { z } from 'zod';",
  "const info = { name: 'shop', version: '1' };",
  "const server = new Server(info).tool('add', { input: z.object({ a: z.number() }) }, ({ a }) => String(a)).prompt('sum', {}, () => '');",
  "const client = await connect(server);",
];

let lines: string[] = [];

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "mistakes.ts"), [...HEAD, ...RIGHT, ...MISTAKES.map(([, line]) => line)].join("\n"));
  const compilerOptions = { composite: false, noEmit: true, incremental: false, skipLibCheck: true, types: ["node"] };
  const extended = join(root, "packages/mcp/tsconfig.test.json");
  const config = { extends: extended, compilerOptions, include: ["mistakes.ts"], references: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(root, "node_modules/typescript-7/bin/tsc");
  const words = [compiler, "--pretty", "false", "-p", folder];
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, words, (_error, out) => resolve(out)),
  );
  lines = output.split("\n");
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the compiler says of a line, further lines of a message included. */
function saidOf(line: number): string {
  const start = lines.findIndex((each) => each.includes(`mistakes.ts(${line},`));
  if (start < 0) return "";
  const end = lines.findIndex((each, index) => index > start && !each.startsWith(" "));
  return lines.slice(start, end).join("\n");
}

describe("the compiler", () => {
  it.each(MISTAKES.map(([what, , told], index) => [what, told, index] as const))(
    "names %s in the words of its author",
    (_what, told, index) => {
      expect(saidOf(HEAD.length + RIGHT.length + index + 1)).toContain(told);
    },
  );

  it("accepts a handler that uses its own server, and a client by the type of its server", () => {
    const right = [...HEAD, ...RIGHT].map((_line, index) => saidOf(index + 1));
    expect(right.filter((said) => said !== "")).toEqual([]);
  });
});
