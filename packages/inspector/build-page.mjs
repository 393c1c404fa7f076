// Builds the page: one script, one style sheet, one document. Used by the package's build and by its tests.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

const here = import.meta.dirname;
const library = resolve(here, "../mcp/src");

/** The sources of the library for browsers, so that the page needs no build of it. */
const sourcesOfTheLibrary = {
  name: "sources-of-the-library",
  resolveId: (id) => {
    const [, entry] = /^@parley\/mcp(?:\/([a-z-]+))?$/.exec(id) ?? [id, null];
    return entry === null ? undefined : join(library, `${entry ?? "index"}.ts`);
  },
};

/** Writes the page into a folder: `index.html`, `inspector.js` and `inspector.css`. */
export async function buildPage(folder) {
  const build = await rolldown({
    input: { inspector: join(here, "page/main.tsx") },
    platform: "browser",
    tsconfig: false,
    logLevel: "silent",
    transform: { jsx: { runtime: "automatic", importSource: "preact" }, target: "es2022" },
    resolve: {
      alias: {
        "#platform": join(library, "platform/default.ts"),
        "#transports": join(library, "transport/default-transports.ts"),
      },
    },
    plugins: [sourcesOfTheLibrary],
  });
  mkdirSync(folder, { recursive: true });
  await build.write({ dir: folder, format: "esm", entryFileNames: "[name].js", codeSplitting: false, minify: true });
  await build.close();
  const styles = join(here, "page/styles");
  // `base.css` comes first by its name: the others build on its variables.
  const sheets = readdirSync(styles)
    .filter((name) => name.endsWith(".css"))
    .sort();
  const css = sheets.map((name) => readFileSync(join(styles, name), "utf8")).join("\n");
  writeFileSync(join(folder, "inspector.css"), css);
  writeFileSync(join(folder, "index.html"), readFileSync(join(here, "page/index.html"), "utf8"));
}
