import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "@parley/mcp";
import { rolldown } from "rolldown";
import type { TransportUnderTest } from "./transport-under-test.js";

const here = dirname(fileURLToPath(import.meta.url));
const sources = resolve(here, "../../../src");
const cases = resolve(here, "../cases");
const cache = resolve(here, "../../../../../node_modules/.cache/parley");

/** Real child processes; all scenarios are bundled into one program that serves the one it is told. */
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
    ...files.map((file, index) => `import case${index} from ${JSON.stringify(join(cases, file))};`),
    `const all = { ${files.map((file, index) => `${JSON.stringify(file)}: case${index}`).join(", ")} };`,
    "await serveStdio(all[process.argv[2]].server());",
  ].join("\n");
  const build = await rolldown({
    input: "scenario-host",
    platform: "node",
    tsconfig: false,
    // What the cases need is bundled from source; packages stay imports.
    external: (id) => !/^[./#]/.test(id) && id !== "scenario-host" && !id.startsWith("@parley/mcp"),
    resolve: {
      alias: {
        "#platform": join(sources, "node/platform.ts"),
        "#transports": join(sources, "node/transports.ts"),
      },
    },
    plugins: [
      {
        name: "scenario-host",
        resolveId(id) {
          if (id === "scenario-host") return "\0scenario-host";
          const [, name] = /^@parley\/mcp(?:\/([a-z-]+))?$/.exec(id) ?? [id, undefined];
          return id.startsWith("@parley/mcp") ? join(sources, `${name ?? "index"}.ts`) : null;
        },
        load: (id) => (id === "\0scenario-host" ? entry : null),
      },
    ],
    logLevel: "silent",
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false });
  await build.close();
  const target = join(cache, `scenario-host-${process.pid}.mjs`);
  if (!existsSync(cache)) mkdirSync(cache, { recursive: true });
  writeFileSync(`${target}.part`, output[0].code);
  renameSync(`${target}.part`, target);
  return target;
}
