import type { PackageSpecs } from "./package-specs.js";

/** The transports that a new project has files for. */
export type ProjectTransport = "stdio" | "http" | "both";

/** The choices for a new project. */
export interface ProjectOptions {
  /** The name of the package and of the server. */
  readonly name: string;
  readonly description: string;
  readonly transport: ProjectTransport;
  /** The packages of Parley to depend on. */
  readonly packages: PackageSpecs;
}

/** The files of a new project, by their paths in its folder. */
export function projectFiles(options: ProjectOptions): Readonly<Record<string, string>> {
  const { transport } = options;
  return {
    "package.json": `${JSON.stringify(manifest(options), undefined, 2)}\n`,
    "tsconfig.json": TSCONFIG,
    ".gitignore": "node_modules/\ndist/\n",
    "README.md": readme(options),
    "AGENTS.md": agents(options),
    "src/server.ts": serverSource(options),
    "src/server.test.ts": TEST_SOURCE,
    ...(transport === "http" ? {} : { "src/stdio.ts": STDIO_SOURCE }),
    ...(transport === "stdio" ? {} : { "src/http.ts": HTTP_SOURCE }),
  };
}

function manifest({ name, description, transport, packages }: ProjectOptions): object {
  const { "@parley/mcp": library, ...tools } = packages;
  return {
    name,
    version: "0.1.0",
    description,
    private: true,
    type: "module",
    engines: { node: ">=20.19" },
    ...(transport === "http" ? {} : { bin: { [name.replace(/^@[^/]*\//, "")]: "dist/stdio.js" } }),
    files: ["dist", "!dist/*.test.js"],
    scripts: {
      build: "tsc",
      dev: "parley run src/server.ts --http --watch",
      inspect: "parley inspect src/server.ts",
      // Not for stdio: npm prints to stdout, where a client expects messages.
      ...(transport === "stdio" ? {} : { start: "node dist/http.js" }),
      test: "tsc && node --test dist/server.test.js",
    },
    dependencies: { "@parley/mcp": library, zod: "^4.0.0" },
    devDependencies: { ...tools, "@types/node": "^20.19.0", typescript: "^5.9.0" },
  };
}

const TSCONFIG = `{
  "compilerOptions": {
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "exactOptionalPropertyTypes": true,
    "module": "nodenext",
    "target": "es2022",
    "lib": ["ES2023", "ESNext.Disposable"],
    "types": ["node"],
    // Only syntax that Node 22.18 and later remove by themselves, so that \`node src/…\` runs without a build.
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    // Imports name the \`.ts\` files, and the compiler writes \`.js\`.
    "rewriteRelativeImportExtensions": true,
    "rootDir": "src",
    "outDir": "dist",
    "skipLibCheck": true
  },
  "include": ["src"]
}
`;

function serverSource({ name, description }: ProjectOptions): string {
  return `import { message, Server } from "@parley/mcp";
import { z } from "zod";

/** The server and its offers, independent of the transport. */
export const server = new Server(
  { name: ${JSON.stringify(name)}, version: "0.1.0" },
  { instructions: ${JSON.stringify(description)} },
)
  .tool(
    "add",
    {
      description: "Adds two numbers",
      input: z.object({ a: z.number().describe("the first"), b: z.number().describe("the second") }),
      output: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ sum: a + b }),
  )
  .resource("note://welcome", { name: "welcome", mimeType: "text/plain" }, () => "Change me in src/server.ts.")
  .prompt("explain", { description: "Explains a word", arguments: { word: { required: true } } }, ({ word }) => [
    message.user(\`Explain the word "\${word}" in one sentence.\`),
  ]);
`;
}

const STDIO_SOURCE = `#!/usr/bin/env node
import { serveStdio } from "@parley/mcp/node";
import { server } from "./server.ts";

await serveStdio(server);
`;

const HTTP_SOURCE = `import { serveHttp } from "@parley/mcp/node";
import { server } from "./server.ts";

const { url } = await serveHttp(server, { port: Number(process.env["PORT"] ?? 3000) });
console.error(\`serving at \${url}\`);
`;

const TEST_SOURCE = `import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@parley/mcp";
import { server } from "./server.ts";

// Tests the server with both eras of the protocol.
for (const revision of ["2025-11-25", "2026-07-28"] as const) {
  test(\`a client of \${revision} adds numbers\`, async (t) => {
    const client = await connect(server, { revisions: [revision] });
    t.after(() => client.close());
    assert.deepEqual(await client.call("add", { a: 1, b: 2 }), { sum: 3 });
  });

  test(\`a client of \${revision} gets an error for wrong arguments\`, async (t) => {
    const client = await connect(server, { revisions: [revision] });
    t.after(() => client.close());
    const { isError } = await client.callTool("add", { a: "one" }).catch(() => ({ isError: true }));
    assert.equal(isError, true);
  });

  test(\`a client of \${revision} reads the note\`, async (t) => {
    const client = await connect(server, { revisions: [revision] });
    t.after(() => client.close());
    const { contents } = await client.readResource("note://welcome");
    assert.equal(contents.length, 1);
  });
}
`;

const REPOSITORY = "https://github.com/parley-mcp/parley";

/** A table of the files in `src`. */
function fileTable(transport: ProjectTransport): string {
  const rows = [
    ["src/server.ts", "the tools, resources and prompts of the server"],
    ["src/server.test.ts", "its tests, with clients in the same process"],
    ...(transport === "http" ? [] : [["src/stdio.ts", "serves it on stdin and stdout"]]),
    ...(transport === "stdio" ? [] : [["src/http.ts", "serves it over HTTP; `PORT` sets the port"]]),
  ];
  return `| file | content |\n|---|---|\n${rows.map(([file, content]) => `| \`${file}\` | ${content} |\n`).join("")}`;
}

function readme({ name, description, transport }: ProjectOptions): string {
  const [stdio, http] = [transport !== "http", transport !== "stdio"];
  return `# ${name}

${description}

\`\`\`sh
npm install
npm test                  # compiles to dist, and runs the tests
npm run dev               # serves over HTTP, and replaces the server on every save
npm run inspect           # opens a page that tries the server and shows every message
${stdio ? "node dist/stdio.js        # serves on stdin and stdout\n" : ""}${
  http ? "node dist/http.js         # serves at http://127.0.0.1:3000/mcp\n" : ""
}\`\`\`

Node 22.18 and later need no build: \`node src/${stdio ? "stdio" : "http"}.ts\`, \`node --test src/server.test.ts\`.

${fileTable(transport)}
## Try it

\`\`\`sh
npx @parley/cli list src/server.ts
npx @parley/cli call src/server.ts add a=1 b=2
npx @parley/cli doctor src/server.ts
\`\`\`

${stdio ? stdioApplications(name) : httpApplications(name)}
Guides: [Parley](${REPOSITORY}#readme).
`;
}

/** The ways to add a program to applications. */
function stdioApplications(name: string): string {
  const key = entryName(name);
  const path = `/path/to/${key}/dist/stdio.js`;
  const program = { command: "node", args: [path] };
  return `## Use it in an application

One line adds the server to the configuration of an application (\`claude\`, \`claude-code\`, \`cursor\`, \`vscode\`, …):

\`\`\`sh
npx @parley/cli add --to claude --name ${key} -- node dist/stdio.js
\`\`\`

By hand, name the compiled file. Replace \`/path/to/${key}\` with the absolute path of this folder, because
applications start servers in other folders.

Claude Desktop (\`claude_desktop_config.json\`), Cursor (\`.cursor/mcp.json\`):

\`\`\`json
${JSON.stringify({ mcpServers: { [key]: program } }, undefined, 2)}
\`\`\`

VS Code (\`.vscode/mcp.json\`):

\`\`\`json
${JSON.stringify({ servers: { [key]: { type: "stdio", ...program } } }, undefined, 2)}
\`\`\`

Claude Code:

\`\`\`sh
claude mcp add ${key} -- node ${path}
\`\`\`

Do not use an npm script as the command: npm prints to stdout, where applications expect messages of the protocol.
`;
}

/** The ways to add an address to applications. */
function httpApplications(name: string): string {
  const key = entryName(name);
  return `## Use it in an application

Start the server with \`node dist/http.js\`, then add its address to an application:

\`\`\`sh
npx @parley/cli add http://127.0.0.1:3000/mcp --to claude-code --name ${key}
\`\`\`

By hand, in Cursor (\`.cursor/mcp.json\`):

\`\`\`json
${JSON.stringify({ mcpServers: { [key]: { url: ADDRESS } } }, undefined, 2)}
\`\`\`

VS Code (\`.vscode/mcp.json\`):

\`\`\`json
${JSON.stringify({ servers: { [key]: { type: "http", url: ADDRESS } } }, undefined, 2)}
\`\`\`

Claude Code:

\`\`\`sh
claude mcp add --transport http ${key} ${ADDRESS}
\`\`\`

Claude Desktop starts programs: \`npx @parley/cli add src/server.ts --to claude\`.
`;
}

const ADDRESS = "http://127.0.0.1:3000/mcp";

/** The name of the server in configuration files: the name of the package without its scope. */
function entryName(name: string): string {
  return name.replace(/^@[^/]*\//, "").replace(/[^A-Za-z0-9_-]+/g, "-");
}

function agents({ name, transport }: ProjectOptions): string {
  return `# Guide for coding agents

${name} is a server of the Model Context Protocol, written with [Parley](${REPOSITORY}#readme).

| command | purpose |
|---|---|
| \`npm test\` | compiles with strict checks, and runs the tests; run it after every change |
| \`npm run build\` | compiles \`src\` to \`dist\` |
| \`npx @parley/cli list src/server.ts\` | lists the tools, resources and prompts |
| \`npx @parley/cli call src/server.ts add a=1 b=2\` | calls a tool, without a build |
| \`npx @parley/cli lint src/server.ts\` | checks names, descriptions and schemas |
| \`npx @parley/cli doctor src/server.ts\` | connects step by step, and names the first problem |

${fileTable(transport)}
## Rules

- Add tools, resources and prompts in \`src/server.ts\`, with a test for each in \`src/server.test.ts\`.
- Every tool has a \`description\`, and an \`input\` schema whose fields have descriptions. Models choose tools by them.
- Never write to stdout (\`console.log\`) in a server on stdio: stdout carries the messages. Use \`console.error\` or \`ctx.log\`.
- Never start a server on stdio by an npm script, because npm prints to stdout. Use \`node dist/stdio.js\`.
- Throw a \`ToolError\` for a failure that the model can correct. Its text is the result; the text of other errors may be hidden.
- Relative imports end in \`.ts\`. Use no \`enum\`, \`namespace\` or parameter properties, so that Node runs the sources without a build.

## Documentation

- [Tools](${REPOSITORY}/blob/main/docs/tools.md), [resources](${REPOSITORY}/blob/main/docs/resources.md),
  [prompts](${REPOSITORY}/blob/main/docs/prompts.md), [testing](${REPOSITORY}/blob/main/docs/testing.md)
- [Index for language models](https://raw.githubusercontent.com/parley-mcp/parley/main/llms.txt)
`;
}
