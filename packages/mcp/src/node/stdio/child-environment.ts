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
 * The environment of a child: a short list of names that programs need to run at all, then `env`.
 *
 * A server is somebody else's code; the secrets in this process's environment are not meant for it unless they are named.
 * `inherit` adds names, or with `true` everything.
 */
export function childEnvironment(
  env: Readonly<Record<string, string>> = {},
  inherit: boolean | readonly string[] = false,
  parent: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const wanted = wantedNames(inherit);
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined || (wanted !== undefined && !wanted.has(comparable(name)))) continue;
    // A shell function in a variable is code that the child's shell would run.
    if (value.startsWith("()")) continue;
    result[name] = value;
  }
  return { ...result, ...env };
}

function wantedNames(inherit: boolean | readonly string[]): Set<string> | undefined {
  if (inherit === true) return undefined;
  const base = process.platform === "win32" ? WINDOWS_NAMES : POSIX_NAMES;
  return new Set([...base, ...(inherit === false ? [] : inherit)].map(comparable));
}

/** Windows does not tell `Path` from `PATH`. */
function comparable(name: string): string {
  return process.platform === "win32" ? name.toUpperCase() : name;
}
