import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "rolldown";

const entries = {
  index: "src/index.ts",
  http: "src/http.ts",
  node: "src/node.ts",
  protocol: "src/protocol.ts",
  storage: "src/storage.ts",
  testing: "src/testing.ts",
  transport: "src/transport.ts",
  "platform-node": "src/node/platform.ts",
  "platform-default": "src/platform/default.ts",
  "transports-node": "src/node/transports.ts",
  "transports-default": "src/transport/default-transports.ts",
};

export default defineConfig({
  cwd: import.meta.dirname,
  input: entries,
  platform: "neutral",
  tsconfig: false,
  // Packages stay imports, and so do `#platform` and `#transports`: the runtime that loads the file picks its own by condition.
  external: (id) => !/^[./]/.test(id) && !/^[a-z]:/i.test(id),
  output: {
    dir: "dist",
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
    // What entries share is one file per side of the platform line: each file more costs time at every start.
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        { name: "shared-node", test: /[\\/]src[\\/]node[\\/]/, minShareCount: 2, priority: 1 },
        { name: "shared", minShareCount: 2 },
      ],
    },
    comments: { legal: true, annotation: true, jsdoc: false },
  },
  plugins: [{ name: "remove-stale-output", writeBundle: removeStaleOutput }],
});

/** Deletes JavaScript of earlier builds only; the declarations beside it are the compiler's. */
function removeStaleOutput(_options, bundle) {
  const dir = join(import.meta.dirname, "dist");
  for (const file of readdirSync(dir, { recursive: true })) {
    const name = file.replaceAll("\\", "/");
    if (name.endsWith(".js") && bundle[name] === undefined) rmSync(join(dir, file));
  }
}
