import { resolve } from "node:path";
import { defineConfig } from "rolldown";

const here = import.meta.dirname;

/** The driver in one file; packages stay imports. */
export default defineConfig({
  cwd: here,
  input: { index: "src/index.ts" },
  platform: "node",
  tsconfig: false,
  transform: { target: "node20" },
  external: (id) => !/^[./]/.test(id) && !/^[a-z]:/i.test(id) && !id.startsWith("@oxc-project/"),
  output: {
    dir: resolve(here, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    comments: { legal: true, annotation: true, jsdoc: false },
  },
});
