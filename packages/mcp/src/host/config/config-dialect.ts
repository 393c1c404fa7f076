/** Whose form a configuration has. `parley` is our own, which also understands the fields of all others. */
export type ConfigDialect = "parley" | "claude" | "cursor" | "vscode" | "codex" | "gemini";

/** Every dialect, with the member of the file that holds its servers. */
export const DIALECTS: Readonly<Record<ConfigDialect, string>> = {
  parley: "servers",
  claude: "mcpServers",
  cursor: "mcpServers",
  vscode: "servers",
  codex: "mcp_servers",
  gemini: "mcpServers",
};

/** Fields that only entries of Gemini have. */
const OF_GEMINI = ["httpUrl", "includeTools", "excludeTools"];

/** The servers of a configuration, and whose form it has. */
export interface FoundServers {
  readonly dialect: ConfigDialect;
  /** The names that lead to the servers. */
  readonly path: readonly string[];
  readonly entries: Readonly<Record<string, unknown>>;
}

/** Finds the servers of a configuration; undefined if it has none. A `dialect` that is given is believed. */
export function findServers(
  config: Readonly<Record<string, unknown>>,
  given?: ConfigDialect,
): FoundServers | undefined {
  // Settings of VS Code hold them one level deeper.
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
    (entry) => OF_GEMINI.some((name) => Object.hasOwn(entry, name)) || typeof own(entry, "trust") === "boolean",
  )
    ? "gemini"
    : "claude";
}

/** True for objects that are no lists. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member of its own, never one of the prototype. */
export function own(from: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(from, name) ? from[name] : undefined;
}

/** Names that objects of the language have; a member of such a name would not be what it seems. */
const RESERVED = new Set(["__proto__", "constructor", "prototype"]);

/** True for a name that could be mistaken for a part of the language. */
export function isReservedName(name: string): boolean {
  return RESERVED.has(name);
}
