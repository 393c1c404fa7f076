import { resolve } from "node:path";
import { defineConfig } from "rolldown";
import { buildPage } from "./build-page.mjs";

const here = import.meta.dirname;
const dist = resolve(here, "dist");

/** The side of Node in one file, and what it loads later; the page beside it. */
export default defineConfig({
  cwd: here,
  input: { index: "src/index.ts" },
  platform: "node",
  tsconfig: false,
  transform: { target: "node20" },
  external: (id) => !/^[./]/.test(id) && !/^[a-z]:/i.test(id) && !id.startsWith("@oxc-project/"),
  output: {
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
    comments: { legal: true, annotation: true, jsdoc: false },
  },
  plugins: [{ name: "the-page", closeBundle: () => buildPage(resolve(dist, "page")) }],
});
