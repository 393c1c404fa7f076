import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type RolldownPluginOption, rolldown } from "rolldown";

const here = dirname(fileURLToPath(import.meta.url));
const cases = resolve(here, "../scenarios/cases");
const sources = resolve(here, "../../src");
// Not below node_modules, where Deno takes a file for a part of some package.
const bundles = join(here, "dist");

/** The file names of all scenarios. */
export function allCases(): string[] {
  return readdirSync(cases).filter((file) => file.endsWith(".ts"));
}

/** A program in a folder of its own. */
export interface Bundle {
  readonly folder: string;
  readonly file: string;
  remove(): void;
}

/**
 * Bundles the cases with the program that runs them on Node, Bun and Deno. The library stays an import, so that it is found as a
 * user's program finds it: the built package, by the conditions that the runtime knows.
 */
export function bundleProgram(files: readonly string[]): Promise<Bundle> {
  const external = (id: string) => /^(node:|@parley\/mcp|zod)/.test(id);
  return bundle("program", files, { external, plugins: [throughThePackage] });
}

/** Bundles cases, library and all into one module for a runtime that has no packages; the platform is the default one. */
export function bundleWorker(files: readonly string[]): Promise<Bundle> {
  return bundle("worker", files, INLINED);
}

/** The same for the module that exports a handler as it is. */
export function bundleServing(): Promise<Bundle> {
  return bundle("worker", [], { ...INLINED, input: join(here, "serving/exported.mjs") });
}

/** What users import, from its sources. */
const fromTheSources: RolldownPluginOption = {
  name: "from-the-sources",
  resolveId(id) {
    const [, entry = "index"] = /^@parley\/mcp(?:\/([a-z-]+))?$/.exec(id) ?? [id, undefined];
    return id.startsWith("@parley/mcp") ? join(sources, `${entry}.ts`) : null;
  },
};

const INLINED: BundleOptions = {
  external: () => false,
  plugins: [fromTheSources],
  alias: {
    "#platform": join(sources, "platform/default.ts"),
    "#transports": join(sources, "transport/default-transports.ts"),
  },
};

/** The scenarios' transports import the library's files; here they shall have them from the package. */
const throughThePackage: RolldownPluginOption = {
  name: "through-the-package",
  resolveId(id) {
    if (id.includes("src/node/")) return { id: "@parley/mcp/node", external: true };
    if (id.includes("src/transport/")) return { id: "@parley/mcp", external: true };
    return null;
  },
};

interface BundleOptions {
  input?: string;
  external: (id: string) => boolean;
  alias?: Record<string, string>;
  plugins?: RolldownPluginOption[];
}

async function bundle(name: "program" | "worker", files: readonly string[], options: BundleOptions): Promise<Bundle> {
  const build = await rolldown({
    input: options.input ?? join(here, `${name}.ts`),
    platform: "neutral",
    tsconfig: false,
    external: options.external,
    resolve: {
      alias: { vitest: join(here, "expect.mjs"), ...options.alias },
      mainFields: ["module", "main"],
      conditionNames: ["import", "default"],
    },
    plugins: [chosenCases(files), ...(options.plugins ?? [])],
    logLevel: "silent",
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false });
  await build.close();
  mkdirSync(bundles, { recursive: true });
  const folder = mkdtempSync(join(bundles, `${name}-`));
  writeFileSync(join(folder, `${name}.mjs`), output[0].code);
  return { folder, file: join(folder, `${name}.mjs`), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function chosenCases(files: readonly string[]): RolldownPluginOption {
  return {
    name: "chosen-cases",
    load(id) {
      if (id !== join(here, "cases.ts")) return null;
      const imports = files.map((file, index) => `import case${index} from ${JSON.stringify(join(cases, file))};`);
      const entries = files.map((file, index) => `${JSON.stringify(file)}: case${index}`);
      return { code: `${imports.join("\n")}\nexport const cases = { ${entries.join(", ")} };`, moduleType: "js" };
    },
  };
}
