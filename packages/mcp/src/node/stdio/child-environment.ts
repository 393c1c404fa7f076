const POSIX_NAMES = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

const WINDOWS_NAMES = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

/**
 * The environment of a child process: the few variables that most programs need, then `env`.
 *
 * A server is third-party code, so it does not inherit the secrets in this process's environment unless they are named.
 * `inherit` adds names; `true` inherits everything.
 */
export function childEnvironment(
  env: Readonly<Record<string, string>> = {},
  inherit: boolean | readonly string[] = false,
  parent: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const allowed = allowedNames(inherit);
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined || (allowed !== undefined && !allowed.has(comparable(name)))) continue;
    // An exported shell function is code that the child's shell would run.
    if (value.startsWith("()")) continue;
    result[name] = value;
  }
  return { ...result, ...env };
}

function allowedNames(inherit: boolean | readonly string[]): Set<string> | undefined {
  if (inherit === true) return undefined;
  const base = process.platform === "win32" ? WINDOWS_NAMES : POSIX_NAMES;
  return new Set([...base, ...(inherit === false ? [] : inherit)].map(comparable));
}

/** Names are case-insensitive on Windows. */
function comparable(name: string): string {
  return process.platform === "win32" ? name.toUpperCase() : name;
}
