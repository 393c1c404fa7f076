import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`./packages/mcp/src/${path}`, import.meta.url));
const redisIndex = fileURLToPath(new URL("./packages/redis/src/index.ts", import.meta.url));

export default defineConfig({
  resolve: {
    // Tests run the sources, so that a failure points at the line to change and no build has to come first.
    alias: [
      { find: /^@parley\/mcp$/, replacement: source("index.ts") },
      { find: /^@parley\/mcp\/storage\/sqlite$/, replacement: source("storage-sqlite.ts") },
      { find: /^@parley\/mcp\/([a-z-]+)$/, replacement: source("$1.ts") },
      { find: /^@parley\/redis$/, replacement: redisIndex },
      { find: /^#platform$/, replacement: source("node/platform.ts") },
      { find: /^#transports$/, replacement: source("node/transports.ts") },
    ],
  },
  test: {
    pool: "forks",
    // On two cores the default is one, and half of the machine would wait.
    maxWorkers: "100%",
    reporters: ["default", fileURLToPath(new URL("./scripts/repeated-tests.mjs", import.meta.url))],
    // These end what hangs; they are no bounds that a test relies on.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // `npm run coverage`: code that only runs in child processes is not counted.
    coverage: {
      provider: "v8",
      include: ["packages/mcp/src/**/*.ts"],
      exclude: ["**/*.test.ts"],
      reporter: ["text-summary", "json-summary"],
      reportsDirectory: fileURLToPath(new URL("./node_modules/.cache/parley/coverage", import.meta.url)),
      thresholds: { lines: 90 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: "main",
          include: [
            "packages/mcp/src/**/*.test.ts",
            "packages/mcp/test/**/*.test.ts",
            "packages/redis/{src,test}/**/*.test.ts",
            "conformance/**/*.test.ts",
            "examples/**/*.test.ts",
            "docs/**/*.test.ts",
          ],
          exclude: ["**/node_modules/**", "**/*.timing.test.ts"],
          retry: 0,
        },
      },
      {
        extends: true,
        test: {
          // Bounds on time and memory: one file at a time, when nothing else runs. What has to be repeated is printed.
          name: "timing",
          include: ["packages/mcp/test/timing/*.timing.test.ts"],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          retry: 2,
        },
      },
    ],
  },
});
