import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import base from "../vitest.config.js";

// Bounds on time, for a quiet machine: `npm run bench -- bounds`. One after the other.
export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  ...(base.resolve === undefined ? {} : { resolve: base.resolve }),
  test: {
    include: ["packages/{cli,inspector}/test/bounds/*.bounds.ts"],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
