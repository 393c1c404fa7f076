import { resolve } from "node:path";
import { defineConfig } from "rolldown";

const here = import.meta.dirname;

/** The tokenizer, and what the compiler adds for `await using`. */
const BUILT_IN = /^(?:gpt-tokenizer|@oxc-project\/runtime)/;

/** One file for what every start needs, and one for what each command loads. */
export default defineConfig({
  cwd: here,
  input: { parley: "src/parley.ts" },
  platform: "node",
  tsconfig: false,
  // `await using` is written in newer words: Node 20 does not know it.
  transform: { target: "node20" },
  // The tokenizer is built in: one encoding of the many that its package has, which would be 30 MB more to install.
  external: (id) => !/^[./]/.test(id) && !/^[a-z]:/i.test(id) && !BUILT_IN.test(id),
  output: {
    dir: resolve(here, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
    comments: { legal: true, annotation: true, jsdoc: false },
  },
});
