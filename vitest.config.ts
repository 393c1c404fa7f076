import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { pureTests, testFiles } from "./scripts/pure-tests.mjs";

const root = fileURLToPath(new URL(".", import.meta.url));
const source = (path: string) => fileURLToPath(new URL(`./packages/mcp/src/${path}`, import.meta.url));
const inspectorIndex = fileURLToPath(new URL("./packages/inspector/src/index.ts", import.meta.url));
const redisIndex = fileURLToPath(new URL("./packages/redis/src/index.ts", import.meta.url));

const tests = testFiles(root, [
  "packages/mcp/src",
  "packages/mcp/test",
  "packages/redis/src",
  "packages/redis/test",
  "packages/cli/src",
  "packages/cli/test",
  "packages/inspector/src",
  "packages/inspector/page",
  "packages/inspector/test",
  "conformance",
  "examples",
  "docs",
  "release",
]);
const shared = pureTests(root, tests);
const sharing = new Set(shared);
const ALONE =
  /^packages\/mcp\/(src|test\/(auth\/client-|isolate|lock|sqlite|stdio|telemetry|extensions\/(skills|tasks)|host\/(catalogue|gateway|recovery)))/;
const alone = tests.filter((file) => ALONE.test(file) && !sharing.has(file));

/** The longest first: one that begins last keeps all cores but one waiting. A fresh checkout knows no durations. */
const LONGEST = [
  "release/rehearsal.test.ts",
  "scenarios/scenarios.test.ts",
  "apps/outside-attacks.test.ts",
  "docs/cli-examples.test.ts",
  "browser/accessibility.test.ts",
  "interop/servers.test.ts",
  "runtimes/runtimes.test.ts",
  "docs/snippets.test.ts",
  "auth/provider.test.ts",
  "apps/dialogue-attacks.test.ts",
  "use/results.test.ts",
  "see/timeline.test.ts",
  "use/forms.test.ts",
  "use/running.test.ts",
  "browser/login.test.ts",
  "answer/questions.test.ts",
  "browser/connect.test.ts",
  "browser/hostile.test.ts",
  "simulation/simulation.test.ts",
  "simulation/tasks/tasks.test.ts",
  "hooks/hooks.test.ts",
  "registry/bound-scenarios.test.ts",
  "stdio/stdio-client.test.ts",
  "auth/client-machine.test.ts",
  "soak/lanes.test.ts",
  "runtimes/serving.test.ts",
  "process-faults/process-faults.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((path) => moduleId.endsWith(path));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  resolve: {
    // Tests run the sources, so that a failure points at the line to change and no build has to come first.
    alias: [
      { find: /^@parley\/mcp$/, replacement: source("index.ts") },
      { find: /^@parley\/mcp\/storage\/sqlite$/, replacement: source("storage-sqlite.ts") },
      { find: /^@parley\/mcp\/([a-z-]+)$/, replacement: source("$1.ts") },
      { find: /^@parley\/inspector$/, replacement: inspectorIndex },
      { find: /^@parley\/redis$/, replacement: redisIndex },
      { find: /^#platform$/, replacement: source("node/platform.ts") },
      { find: /^#transports$/, replacement: source("node/entry/transports.ts") },
    ],
  },
  test: {
    pool: "forks",
    // Two more than there are cores, because many files wait for browsers, other processes and timers.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // These end what hangs; they are no bounds that a test relies on.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Code that only runs in child processes, workers and browsers is not counted.
    coverage: {
      provider: "v8",
      include: ["packages/mcp/src/**/*.ts"],
      exclude: ["**/*.test.ts"],
      reporter: ["text-summary", "json-summary"],
      reportsDirectory: fileURLToPath(new URL("./node_modules/.cache/parley/coverage", import.meta.url)),
      reportOnFailure: true,
      thresholds: { lines: 90 },
    },
    projects: [
      {
        extends: true,
        test: {
          // Most files leave no trace in their process: they share one, and load the sources once.
          name: "shared",
          include: shared,
          isolate: false,
          setupFiles: [fileURLToPath(new URL("./scripts/pure-setup.mjs", import.meta.url))],
        },
      },
      // A process each. What the first of these run of the library counts for coverage, what the second run does not: they
      // measure, or start other programs.
      { extends: true, test: { name: "alone", include: alone } },
      {
        extends: true,
        test: { name: "apart", include: tests.filter((file) => !sharing.has(file) && !alone.includes(file)) },
      },
    ],
  },
});
