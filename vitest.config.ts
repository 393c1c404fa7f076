import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`./packages/mcp/src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests run the sources, so that a failure points at the line to change and no build has to come first.
    alias: [
      { find: /^@parley\/mcp$/, replacement: source("index.ts") },
      { find: /^@parley\/mcp\/(node|protocol|storage|testing)$/, replacement: source("$1.ts") },
      { find: /^#platform$/, replacement: source("node/platform.ts") },
      { find: /^#transports$/, replacement: source("node/transports.ts") },
    ],
  },
  test: {
    include: [
      "packages/mcp/src/**/*.test.ts",
      "packages/mcp/test/**/*.test.ts",
      "conformance/**/*.test.ts",
      "examples/**/*.test.ts",
      "docs/**/*.test.ts",
    ],
    pool: "forks",
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // Tests with real processes and sockets hold bounds on time that a busy machine can miss once; not three times.
    retry: process.env["CI"] === undefined ? 0 : 2,
  },
});
