import { execFileSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import { PEERS, ROOT } from "../child.js";
import type { Bench, Contender } from "../contender.js";

/** How long a fresh process takes to import one module and end. The contender's file is the module's name. */
export async function importTime({ program }: Contender): Promise<Bench> {
  const code = program.file === "" ? "" : `import ${JSON.stringify(program.file)};`;
  const cwd = program.owner === "peers" ? PEERS : ROOT;
  return {
    async round() {
      const started = performance.now();
      // Some modules leave something open; the import is over when the code after it runs.
      execFileSync(process.execPath, ["--input-type=module", "-e", `${code}process.exit(0);`], { cwd });
      return { millis: performance.now() - started };
    },
    close: async () => {},
  };
}
