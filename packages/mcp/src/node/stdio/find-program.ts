import { builtin } from "../builtin.js";

/**
 * Where the system would find `command`: its path, or the list of places that were searched.
 * For error messages only; `spawn` does its own search.
 */
export function findProgram(
  command: string,
  env: Readonly<Record<string, string>>,
  cwd: string = process.cwd(),
): { path: string } | { searched: string[] } {
  const { delimiter, isAbsolute, join, resolve } = builtin("node:path");
  const names = withExtensions(command, env);
  const isPath = isAbsolute(command) || /[/\\]/.test(command);
  const folders = isPath ? [""] : (variable(env, "PATH") ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = folders.flatMap((folder) =>
    names.map((name) => (isPath ? resolve(cwd, name) : join(folder, name))),
  );
  const path = candidates.find(isFile);
  return path === undefined ? { searched: isPath ? candidates : folders } : { path };
}

function withExtensions(command: string, env: Readonly<Record<string, string>>): string[] {
  if (process.platform !== "win32") return [command];
  const extensions = (variable(env, "PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";");
  return [command, ...extensions.map((extension) => command + extension)];
}

function variable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  if (process.platform !== "win32") return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

function isFile(path: string): boolean {
  try {
    return builtin("node:fs").statSync(path).isFile();
  } catch {
    return false;
  }
}
