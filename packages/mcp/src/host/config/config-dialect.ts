/**
 * The application whose form a configuration has. `parley` is our own form; its entries may also use the fields of all
 * other applications.
 */
export type ConfigDialect = "parley" | "claude" | "cursor" | "vscode" | "codex" | "gemini";

/** Every dialect, with the key under which its files store the servers. */
export const DIALECTS: Readonly<Record<ConfigDialect, string>> = {
  parley: "servers",
  claude: "mcpServers",
  cursor: "mcpServers",
  vscode: "servers",
  codex: "mcp_servers",
  gemini: "mcpServers",
};

/** Fields that only Gemini uses. */
const GEMINI_FIELDS = ["httpUrl", "includeTools", "excludeTools"];

/** The servers section of a configuration, and its dialect. */
export interface FoundServers {
  readonly dialect: ConfigDialect;
  /** The keys from the top of the configuration down to the servers. */
  readonly path: readonly string[];
  readonly entries: Readonly<Record<string, unknown>>;
}

/** Finds the servers of a configuration; undefined if it has none. Detects the dialect unless it is given. */
export function findServers(
  config: Readonly<Record<string, unknown>>,
  given?: ConfigDialect,
): FoundServers | undefined {
  // The settings file of VS Code stores its servers one level deeper, under `mcp`.
  const places = [["mcp_servers"], ["mcpServers"], ["servers"], ["mcp", "servers"]];
  const wanted = given === undefined ? undefined : DIALECTS[given];
  places.sort((a, b) => Number(b.at(-1) === wanted) - Number(a.at(-1) === wanted));
  for (const path of places) {
    const entries = path.reduce<unknown>((from, name) => (isRecord(from) ? own(from, name) : undefined), config);
    if (isRecord(entries)) return { dialect: given ?? detect(path, entries, config), path, entries };
  }
  return undefined;
}

function detect(
  path: readonly string[],
  entries: Readonly<Record<string, unknown>>,
  config: Readonly<Record<string, unknown>>,
): ConfigDialect {
  const last = path.at(-1);
  if (last === "mcp_servers") return "codex";
  const some = (test: (entry: Readonly<Record<string, unknown>>) => boolean) =>
    Object.values(entries).some((entry) => isRecord(entry) && test(entry));
  if (last === "servers") {
    return path.length > 1 || Object.hasOwn(config, "inputs") || some((entry) => Object.hasOwn(entry, "type"))
      ? "vscode"
      : "parley";
  }
  return some(
    (entry) => GEMINI_FIELDS.some((name) => Object.hasOwn(entry, name)) || typeof own(entry, "trust") === "boolean",
  )
    ? "gemini"
    : "claude";
}

/** True for objects that are not arrays. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns an own member, never one of the prototype. */
export function own(from: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(from, name) ? from[name] : undefined;
}

/** Names of built-in members. Assigning to them would not create an ordinary member. */
const RESERVED = new Set(["__proto__", "constructor", "prototype"]);

/** True for a name that collides with a built-in member. */
export function isReservedName(name: string): boolean {
  return RESERVED.has(name);
}
