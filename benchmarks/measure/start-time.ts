import { execFileSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import { nodeOf, PEERS, ROOT } from "../child.js";
import type { Bench, Contender } from "../contender.js";

/** The program tells what it used before it ends; by descriptor, since `process.stdout` would have to be made first. */
const TELL = `
import { writeSync } from "node:fs";
const { user, system } = process.cpuUsage();
writeSync(1, String((user + system) / 1000));
process.exit(0);`;

/** How long a fresh process takes to import one module and end. The contender's file is the module's name. */
export async function importTime({ program }: Contender): Promise<Bench> {
  const code = program.file === "" ? TELL : `import ${JSON.stringify(program.file)};${TELL}`;
  const node = nodeOf(program);
  const cwd = program.owner === "peers" ? PEERS : ROOT;
  return {
    async round() {
      const started = performance.now();
      const told = execFileSync(node, ["--input-type=module", "-e", code], { cwd, encoding: "utf8" });
      return { millis: performance.now() - started, cpuMillis: Number(told) };
    },
    close: async () => {},
  };
}
