import { resolve } from "node:path";
import { defineConfig } from "rolldown";

const here = import.meta.dirname;

/** The tokenizer, and what the compiler adds for `await using`. */
const BUILT_IN = /^(?:gpt-tokenizer|@oxc-project\/runtime)/;

/** One file for what every start needs, and one for what each command loads. `builtIn` names the packages that are not installed. */
const program = (name, folder, builtIn) => ({
  cwd: here,
  input: { [name]: `src/${name}.ts` },
  platform: "node",
  tsconfig: false,
  // `await using` is written in newer words: Node 20 does not know it.
  transform: { target: "node20" },
  external: (id) => !/^[./]/.test(id) && !/^[a-z]:/i.test(id) && !builtIn.test(id),
  output: {
    dir: resolve(here, folder),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
    comments: { legal: true, annotation: true, jsdoc: false },
  },
});

export default defineConfig([
  // The tokenizer is built in: one encoding of the many that its package has, which would be 30 MB more to install.
  program("parley", "dist", BUILT_IN),
  {
    // Has the few parts of the library that it uses built in, because `npm create` would download the whole. They are built
    // from the sources, of which a bundler can leave out more.
    ...program("create-parley", "../create-parley/dist", /^@parley\/mcp\/protocol$/),
    resolve: { alias: { "@parley/mcp/protocol": resolve(here, "../mcp/src/protocol.ts") } },
    treeshake: { moduleSideEffects: false },
  },
]);
