// Which test files can share a process and the modules that it has loaded: those that leave no trace in it.
//
// Decided by what a file and the helpers that it imports say, so that nobody keeps a list. `scripts/pure-setup.mjs` checks at run
// time that such a file leaves the process as it found it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** What changes the process for those that come after, measures it, starts others, or needs a fresh module. */
const TRACES = [
  /\bvi\.(mock|doMock|unmock|stubGlobal|stubEnv|resetModules|setSystemTime)\b/,
  /\bprocess\.(on|once|off|chdir|exit|exitCode|umask|memoryUsage|cpuUsage|stdin|kill|emit|removeAllListeners)\b/,
  /\bprocess\.env(\.\w+|\[[^\]]+\]) = /,
  /\bdelete (process|globalThis)\b/,
  /\bglobalThis(\.\w+|\[[^\]]+\]) = |Object\.(assign|defineProperty)\((globalThis|process)\b/,
  /\bvi\.spyOn\((globalThis|process|console|Date|JSON|Math|performance|crypto)\b/,
  /"node:(child_process|cluster|inspector|v8|vm|worker_threads|sqlite|diagnostics_channel|async_hooks)"/,
  /"(playwright-core|@opentelemetry\/[\w-]+|rolldown|react|react-dom[\w/]*|typescript)"/,
  /\b(monitorEventLoopDelay|PerformanceObserver|FinalizationRegistry|WeakRef)\b/,
  /@vitest-environment/,
];

/** Paths below `root` of the test files among `files` that leave no trace. */
export function pureTests(root, files) {
  const verdicts = new Map();
  return files.filter((file) => leavesNoTrace(join(root, file), verdicts));
}

function leavesNoTrace(path, verdicts) {
  const known = verdicts.get(path);
  if (known !== undefined) return known;
  // Helpers that import each other are judged by the rest.
  verdicts.set(path, true);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const verdict =
    !TRACES.some((trace) => trace.test(text)) && helpersOf(path, text).every((one) => leavesNoTrace(one, verdicts));
  verdicts.set(path, verdict);
  return verdict;
}

/** The modules of tests that a file imports; sources are the same for everybody. */
function helpersOf(path, text) {
  return [...text.matchAll(/(?:from|import|import\() ?"(\.[^"]+)"/g)]
    .map(([, specifier]) => resolve(dirname(path), specifier.replace(/\.js$/, ".ts")))
    .filter((helper) => !/[\\/](src|page)[\\/]/.test(helper) || helper.endsWith(".test.ts"));
}

/** Test files below the folders, as paths with slashes. A copy of the sources for mutants has only some of the folders. */
export function testFiles(root, folders) {
  const present = folders.filter((folder) => existsSync(join(root, folder)));
  return present.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
      .filter((path) => /\.test\.tsx?$/.test(path) && !path.includes("node_modules/")),
  );
}
