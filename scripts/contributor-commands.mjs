// Where each command of CONTRIBUTING.md is executed: a test fails when one is missing here, or is not where this says.

/** Run by `.ci/run`, or as a step of `scripts/test.mjs`. */
export const IN_EVERY_RUN = [
  "npm ci",
  "npm test",
  "npm run lint",
  "npm run typecheck",
  "npm run knip",
  "npm run build",
  "npm run peers",
  "npm run runtimes",
  "npm run registry",
  "npm run conformance",
  "npm run check:package",
];

/** Made of commands that every run has. */
export const COMPOSED = [
  "npm run test:fast",
  "npm run typecheck:7",
  "npm run coverage",
  "npx vitest run <path>",
  ".ci/run",
];

/** Run by a test, in folders of its own: they would change what the user has installed. */
export const IN_TESTS = { "npm run install:local": "release/rehearsal.test.ts" };

/** Run by `scripts/check-commands.mjs`, in a form that takes seconds. */
export const SHORT_FORMS = {
  "npm start": "npm start",
  "npm run format": "npm run format",
  "npm run bench": "npm run bench -- component-validate --quick",
  "npm run bench:report": "npm run bench:report",
  "npm run soak [lane]": "npm run soak -- calls --scale 0.001",
  "npm run chaos": "node scripts/run-ts.mjs packages/mcp/test/chaos/all.ts --scale 0.02",
  "npm run demo:chaos": "npm run --silent demo:chaos -- --seconds 3",
  "npm run test:runtimes": "npm run test:runtimes -- workerd",
  "npm run docs:api": "npm run docs:api",
  "npm run docs:screenshots": "npm run docs:screenshots -- node_modules/.cache/parley/screenshots",
  "npm run walk": "npm run walk",
  "node scripts/run-ts.mjs file.ts": "node scripts/run-ts.mjs examples/quickstart/main.ts",
  "node scripts/complete-lockfile.mjs [folder]": "node scripts/complete-lockfile.mjs",
};
