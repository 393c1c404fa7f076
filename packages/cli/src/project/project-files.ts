/** The transports that a new project has files for. */
export type ProjectTransport = "stdio" | "http" | "both";

/** The choices for a new project. */
export interface ProjectOptions {
  /** The name of the package and of the server. */
  readonly name: string;
  readonly description: string;
  readonly transport: ProjectTransport;
  /** The version of `@parley/mcp` and `@parley/cli` to depend on. */
  readonly version: string;
}

/** The files of a new project, by their paths in its folder. */
export function projectFiles(options: ProjectOptions): Readonly<Record<string, string>> {
  const { transport } = options;
  return {
    "package.json": `${JSON.stringify(manifest(options), undefined, 2)}\n`,
    "tsconfig.json": TSCONFIG,
    ".gitignore": "node_modules/\ndist/\n",
    "README.md": readme(options),
    "src/server.ts": serverSource(options),
    "src/server.test.ts": TEST_SOURCE,
    ...(transport === "http" ? {} : { "src/stdio.ts": STDIO_SOURCE }),
    ...(transport === "stdio" ? {} : { "src/http.ts": HTTP_SOURCE }),
  };
}

function manifest({ name, description, transport, version }: ProjectOptions): object {
  const stdio = transport !== "http";
  return {
    name,
    version: "0.1.0",
    description,
    private: true,
    type: "module",
    engines: { node: ">=20.19" },
    ...(stdio ? { bin: { [name.replace(/^@[^/]*\//, "")]: "dist/stdio.js" } } : {}),
    scripts: {
      build: "tsc",
      dev: "parley run src/server.ts --http --watch",
      start: `tsc && node dist/${stdio ? "stdio" : "http"}.js`,
      ...(transport === "both" ? { "start:http": "tsc && node dist/http.js" } : {}),
      test: "tsc && node --test dist/server.test.js",
    },
    dependencies: { "@parley/mcp": `^${version}`, zod: "^4.0.0" },
    devDependencies: { "@parley/cli": `^${version}`, "@types/node": "^20.19.0", typescript: "^5.9.0" },
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
import { server } from "./server.js";

await serveStdio(server);
`;

const HTTP_SOURCE = `import { serveHttp } from "@parley/mcp/node";
import { server } from "./server.js";

const { url } = await serveHttp(server, { port: Number(process.env["PORT"] ?? 3000) });
console.error(\`serving at \${url}\`);
`;

const TEST_SOURCE = `import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@parley/mcp";
import { server } from "./server.js";

// Tests the server with both eras of the protocol.
for (const revision of ["2025-11-25", "2026-07-28"] as const) {
  test(\`a client of \${revision} adds numbers\`, async () => {
    await using client = await connect(server, { revisions: [revision] });
    assert.deepEqual(await client.call("add", { a: 1, b: 2 }), { sum: 3 });
  });

  test(\`a client of \${revision} gets an error for wrong arguments\`, async () => {
    await using client = await connect(server, { revisions: [revision] });
    const { isError } = await client.callTool("add", { a: "one" }).catch(() => ({ isError: true }));
    assert.equal(isError, true);
  });

  test(\`a client of \${revision} reads the note\`, async () => {
    await using client = await connect(server, { revisions: [revision] });
    const { contents } = await client.readResource("note://welcome");
    assert.equal(contents.length, 1);
  });
}
`;

function readme({ name, description, transport }: ProjectOptions): string {
  const start =
    transport === "both"
      ? "npm start              # on stdin and stdout\nnpm run start:http     # at http://127.0.0.1:3000/mcp"
      : transport === "http"
        ? "npm start              # at http://127.0.0.1:3000/mcp"
        : "npm start              # on stdin and stdout";
  return `# ${name}

${description}

\`\`\`sh
npm install
npm test               # compiles and runs the tests
npm run dev            # serves over HTTP, and reloads on every save
${start}
\`\`\`

Call it, and let an application use it:

\`\`\`sh
npx parley list src/server.ts
npx parley call src/server.ts add a=1 b=2
npx parley add src/server.ts --to claude
npx parley doctor src/server.ts
\`\`\`

| file | content |
|---|---|
| \`src/server.ts\` | the tools, resources and prompts of the server |
| \`src/server.test.ts\` | its tests |
${transport === "http" ? "" : "| `src/stdio.ts` | serves it on stdin and stdout |\n"}${
  transport === "stdio" ? "" : "| `src/http.ts` | serves it over HTTP; `PORT` sets the port |\n"
}`;
}
