// Runs scenarios on every other runtime and prints what came of them.
//
// Usage: npm run test:runtimes          all scenarios
//        … main.ts [--all] [name …]     the smoke list, or all of them; on the runtimes named
import { allCases } from "./bundle-cases.js";
import { RUNTIMES } from "./runtime.js";
import { SMOKE } from "./smoke-list.js";

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith("--"));
const files = words.includes("--all") ? allCases() : Object.keys(SMOKE);
let failed = 0;

for (const runtime of RUNTIMES) {
  if (names.length > 0 && !names.includes(runtime.name)) continue;
  if (!runtime.installed) {
    console.log(`${runtime.name}: not installed for this machine (npm run runtimes)`);
    continue;
  }
  const outcomes = await runtime.run(files);
  const troubles = outcomes.filter(({ trouble }) => trouble !== undefined);
  failed += troubles.length;
  const transports = [...new Set(outcomes.map(({ transport }) => transport))].join(", ");
  console.log(
    `${runtime.name}: ${outcomes.length - troubles.length} of ${outcomes.length} cells hold (${files.length} scenarios; ${transports}; both eras)`,
  );
  for (const { file, transport, era, trouble } of troubles) console.log(`  ${file}, ${transport}, ${era}: ${trouble}`);
}
process.exitCode = failed > 0 ? 1 : 0;
