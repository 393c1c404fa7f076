import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fromRoot, type Mutant } from "./mutant.js";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

/** What became of one mutant. */
export interface Verdict {
  name: string;
  recreates: string;
  file: string;
  /** The test file that failed; absent for a mutant that no test noticed. */
  killedBy?: string;
  seconds: number;
}

/** Seeds are enough to notice what a mutant of the simulation breaks. */
const SEEDS = "400";
/** A mutant may hang its tests; vitest ends them, and if it does not, this does. */
const PATIENCE_MS = 150_000;

/** A copy of the sources and tests that may be changed. */
export class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), "parley-mutants-"));

  constructor() {
    for (const path of ["package.json", "vitest.config.ts", "scripts", "tsconfig.base.json"]) this.#copy(path);
    for (const name of ["mcp", "redis", "cli"]) {
      for (const path of ["src", "test", "package.json"]) this.#copy(`packages/${name}/${path}`);
    }
    for (const path of ["packages/inspector/src", "packages/inspector/package.json"]) this.#copy(path);
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"));
  }

  path(file: string): string {
    return join(this.folder, fromRoot("packages/mcp/src", file));
  }

  /** Runs one test file. True when it passes. */
  passes(test: string): Promise<boolean> {
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const args = [
      vitest,
      "run",
      "--root",
      this.folder,
      "--bail=1",
      "--retry=0",
      "--reporter=dot",
      fromRoot("packages/mcp", test),
    ];
    const env = { ...process.env, SEEDS, NO_COLOR: "1" };
    const child = spawn(process.execPath, args, { cwd: this.folder, env, stdio: "ignore", detached: true });
    // A worker that a mutant sent into an endless loop outlives its runner unless the whole group is ended.
    const endGroup = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // Nobody of the group is left.
      }
    };
    const patience = setTimeout(endGroup, PATIENCE_MS);
    return new Promise((resolve) => {
      child.once("exit", (code) => {
        clearTimeout(patience);
        endGroup();
        resolve(code === 0);
      });
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #copy(path: string): void {
    const to = join(this.folder, path);
    mkdirSync(join(to, ".."), { recursive: true });
    // Installed packages of the peers are large, and no named test needs them.
    cpSync(join(root, path), to, { recursive: true, filter: (source) => !source.endsWith("node_modules") });
  }
}

/** Which of the named test files fail without any mutant: what they say about one means nothing. */
export async function brokenTests(mutants: readonly Mutant[], tell: (line: string) => void): Promise<string[]> {
  const copy = new Copy();
  const broken: string[] = [];
  try {
    for (const test of new Set(mutants.flatMap(({ tests }) => tests))) {
      if (await copy.passes(test)) continue;
      // Once more, because a machine under load makes clocks late.
      if (await copy.passes(test)) continue;
      broken.push(test);
      tell(`fails without any mutant: ${test}`);
    }
  } finally {
    copy.remove();
  }
  return broken;
}

/** Writes each mutant into a copy, alone, and looks which test notices; `width` copies work side by side. */
export async function runMutants(
  mutants: readonly Mutant[],
  width: number,
  judged: (verdict: Verdict) => void,
): Promise<Verdict[]> {
  const verdicts = new Map<string, Verdict>();
  let next = 0;
  const lane = async () => {
    const copy = new Copy();
    try {
      for (let mutant = mutants[next++]; mutant !== undefined; mutant = mutants[next++]) {
        const verdict = await judge(copy, mutant);
        verdicts.set(mutant.name, verdict);
        judged(verdict);
      }
    } finally {
      copy.remove();
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return mutants.flatMap(({ name }) => verdicts.get(name) ?? []);
}

async function judge(copy: Copy, { name, recreates, file, search, replace, tests }: Mutant): Promise<Verdict> {
  const path = copy.path(file);
  const source = readFileSync(path, "utf8");
  const started = performance.now();
  // A function, because the replacement is no pattern.
  writeFileSync(
    path,
    source.replace(search, () => replace),
  );
  let killedBy: string | undefined;
  try {
    for (const test of tests) {
      if (await copy.passes(test)) continue;
      killedBy = test;
      break;
    }
  } finally {
    writeFileSync(path, source);
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  return { name, recreates, file, seconds, ...(killedBy === undefined ? {} : { killedBy }) };
}
