import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** The shells of this machine. */
export const SHELLS = ["sh", "bash", "zsh"].filter((shell) => spawnSync(shell, ["-c", ":"]).status === 0);

/** Runs lines in a shell, in an empty folder, and gives what they printed. Rejects if they wrote to stderr or failed. */
export async function runLines(shell: string, lines: string, env: Readonly<Record<string, string>>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "parley-lines-"));
  try {
    // A file, because lines may be longer than a command line.
    writeFileSync(join(folder, "lines"), `${lines}\n`);
    return await runProgram(shell, ["lines"], { PATH: process.env["PATH"] ?? "", HOME: folder, ...env }, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a program and gives what it printed. Rejects if it wrote to stderr or failed. */
export async function runProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<string> {
  const child = spawn(program, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (stderr !== "" || code !== 0) throw new Error(`${program} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}
