import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Revision } from "@parley/mcp/protocol";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleFixture } from "../../../mcp/test/stdio/bundle-fixture.js";
import type { CopiedRequest } from "../../src/copy/copied-request.js";
import { copyAsTypeScript } from "../../src/copy/copy-as-typescript.js";
import { copiedFrom, HOSTILE_ARGUMENTS } from "./copied-calls.js";
import { AUTHORIZATION, type EchoServer, startEchoServer } from "./echo-server.js";
import { runProgram } from "./run-lines.js";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const library = join(root, "packages/mcp/src");
const REVISIONS = ["2025-11-25", "2026-07-28"] as const;

/** What the compiler says of programs, with every check that it has. */
function typeErrors(files: readonly string[]): string[] {
  const program = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noUnusedLocals: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ["lib.es2023.d.ts", "lib.webworker.d.ts", "lib.esnext.disposable.d.ts"],
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    paths: {
      "@parley/mcp": [join(library, "index.ts")],
      "#platform": [join(library, "platform/default.ts")],
      "#transports": [join(library, "transport/default-transports.ts")],
    },
  });
  return files.flatMap((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText }) => `${file}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
  });
}

/** Requests that only differ in what is asked. */
function requests(revision: Revision): CopiedRequest[] {
  const asks: [string, object][] = [
    ["tools/list", {}],
    ["tools/list", { cursor: "a" }],
    ["tools/call", { name: "a", arguments: { a: 1 }, task: {} }],
    ["tools/call", { name: 5 }],
    ["prompts/get", { name: "a", arguments: { a: 1 } }],
    ["resources/read", { uri: "note://a", _meta: { "com.example/a": 1, progressToken: 5 } }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "a" }, argument: { name: "a", value: "" } }],
    ["logging/setLevel", { level: "info" }],
    ["initialize", {}],
    ["com.example/do", { a: [] }],
  ];
  const targets: CopiedRequest["target"][] = [
    { kind: "url", shown: "https://a/mcp", url: "https://me:pass@a/mcp?token=t0k" },
    { kind: "command", shown: "-- node a.js", command: ["node", "it's a.js", '"'] },
    { kind: "module", shown: "./server.ts" },
    { kind: "file", shown: "session.jsonl" },
  ];
  return asks.flatMap(([method, params]) => {
    const message = { jsonrpc: "2.0", method, params };
    const both = [{ ...message, id: 1 }, message];
    return both.flatMap((each) =>
      targets.map((target) => ({ message: each, target, revision, headers: { authorization: "x", "x-a": '"' } })),
    );
  });
}

describe("a request that is copied as TypeScript", () => {
  let server: EchoServer;
  let folder: string;
  let written = 0;
  const write = (program: string) => {
    const file = join(folder, `copied-${++written}.ts`);
    writeFileSync(file, program);
    return file;
  };

  beforeAll(async () => {
    // Inside the repository, so that packages are found.
    const cache = join(root, "node_modules/.cache/parley");
    mkdirSync(cache, { recursive: true });
    folder = mkdtempSync(join(cache, "copied-"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
    server = await startEchoServer();
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it.each(REVISIONS)("does the same in %s", async (revision) => {
    const hostile = { ...HOSTILE_ARGUMENTS, ["__proto__"]: { polluted: true } };
    const proto = await copiedFrom(server, revision, (client) => client.callTool("echo", hostile));
    const name = "it's $(me)\n`you`";
    const copied = [
      proto,
      await copiedFrom(server, revision, (client) => client.callTool('it\'s $(one) "tool"')),
      await copiedFrom(server, revision, (client) => client.readResource("note://it's")),
      await copiedFrom(server, revision, (client) => client.getPrompt("greet", { name })),
      await copiedFrom(server, revision, (client) =>
        client.complete({ prompt: "greet" }, { name: "name", value: "A" }),
      ),
    ];
    const original = server.asked.splice(0);
    const programs = copied.map(copyAsTypeScript);
    for (const program of programs) expect(program).not.toContain("s3cr3t");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    for (const program of programs) expect(program).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/);
    const files = programs.map(write);
    const printed: string[] = [];
    for (const file of files) {
      const bundled = await bundleFixture(pathToFileURL(file));
      printed.push(await runProgram(process.execPath, [bundled], { AUTHORIZATION, NO_PROXY: "*" }, folder));
    }
    expect(server.asked).toEqual(original);
    expect(Object.keys(Object(server.asked.splice(0)[0]))).toEqual(Object.keys(Object(original[0])));
    expect(printed[0]).toContain('"kept"');
    expect(printed[2]).toContain('"note it\'s"');
    expect(JSON.parse(printed[4] ?? "")).toMatchObject({ completion: { values: ["Ada", "Alan"] } });
  });

  it("compiles strictly, whatever it is", { timeout: 240_000 }, async () => {
    const hostile = await copiedFrom(server, "2026-07-28", (client) => client.callTool("echo", HOSTILE_ARGUMENTS));
    const programs = [hostile, ...requests("2025-11-25")].map(copyAsTypeScript);
    expect(typeErrors(programs.map(write))).toEqual([]);
  });

  it("is a program that can be read", () => {
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "add", arguments: { a: 1, "b-c": ["x"] } },
    };
    const target = { kind: "url", shown: "https://a/mcp", url: "https://a/mcp" } as const;
    expect(
      copyAsTypeScript({
        message,
        target,
        revision: "2025-11-25",
        headers: { Authorization: "Bearer x", Accept: "a" },
      }),
    ).toBe(
      `import { connect } from "@parley/mcp";

const client = await connect("https://a/mcp", {
  revisions: ["2025-11-25"],
  headers: {
    authorization: process.env.AUTHORIZATION ?? "",
  },
});
try {
  const result = await client.callTool("add", {
    a: 1,
    "b-c": [
      "x",
    ],
  });
  console.log(JSON.stringify(result, undefined, 2));
} finally {
  await client.close();
}
`,
    );
    expect(
      copyAsTypeScript({
        message: { ...message, method: "ping", params: {} },
        target: { kind: "server", shown: "server" },
        revision: undefined,
      }),
    ).toContain(
      'import { server } from "./server.js"; // the module of your server\n\nconst client = await connect(server);',
    );
  });

  it("parses what is nested deep, and says so where nothing could write it", () => {
    const nested = (depth: number) => {
      let value: object = { end: "it's" };
      for (let level = 0; level < depth; level++) value = { a: value };
      const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a", arguments: value } };
      return copyAsTypeScript({ message, target: { kind: "module", shown: "./a.ts" }, revision: undefined });
    };
    expect(nested(60)).toContain('JSON.parse("{\\"a\\":');
    expect(nested(100_000)).toContain("nested too deep to be written");
  });
});
