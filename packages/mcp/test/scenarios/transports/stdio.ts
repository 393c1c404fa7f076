import { mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "@parley/mcp";
import { rolldown } from "rolldown";
import type { TransportUnderTest } from "./transport-under-test.js";

const here = dirname(fileURLToPath(import.meta.url));
const sources = resolve(here, "../../../src");
const cases = resolve(here, "../cases");
const cache = resolve(here, "../../../../../node_modules/.cache/parley");

/** Real child processes; all scenarios are bundled into one program that loads and serves the one it is told. */
export const stdio: TransportUnderTest = {
  name: "stdio",
  async serve(_server, file) {
    program ??= bundle();
    const host = await program;
    return {
      connect: (options) => connect({ command: process.execPath, args: [host, file] }, options),
      close: async () => {},
    };
  },
};

let program: Promise<string> | undefined;

async function bundle(): Promise<string> {
  const files = readdirSync(cases).filter((file) => file.endsWith(".ts"));
  const entry = [
    `import { serveStdio } from ${JSON.stringify(join(sources, "node/stdio/stdio-server.ts"))};`,
    `const all = { ${files.map(loading).join(", ")} };`,
    "const { default: chosen } = await all[process.argv[2]]();",
    "await serveStdio(chosen.server());",
  ].join("\n");
  const build = await rolldown({
    input: "scenario-host",
    platform: "node",
    tsconfig: false,
    // What the cases need is bundled from source; packages stay imports.
    external: (id) => !/^[./#]|^scenario-host$|^vitest$|^@parley\/mcp/.test(id),
    resolve: {
      alias: {
        "#platform": join(sources, "node/platform.ts"),
        "#transports": join(sources, "node/entry/transports.ts"),
      },
    },
    plugins: [
      {
        name: "scenario-host",
        resolveId(id) {
          if (id === "scenario-host" || id === "vitest") return `\0${id}`;
          const [, name] = /^@parley\/mcp(?:\/([a-z-]+))?$/.exec(id) ?? [id, undefined];
          return id.startsWith("@parley/mcp") ? join(sources, `${name ?? "index"}.ts`) : null;
        },
        // A process only serves: what checks its answers would double the time that it takes to start.
        load: (id) =>
          id === "\0scenario-host" ? entry : id === "\0vitest" ? "export const expect = undefined;" : null,
      },
    ],
    logLevel: "silent",
  });
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, "scenario-host-"));
  await build.write({ dir, format: "esm", entryFileNames: "host.mjs", chunkFileNames: "[name]-[hash].mjs" });
  await build.close();
  return join(dir, "host.mjs");
}

function loading(file: string): string {
  return `${JSON.stringify(file)}: () => import(${JSON.stringify(join(cases, file))})`;
}
