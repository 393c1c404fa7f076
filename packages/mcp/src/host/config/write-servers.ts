import { McpError } from "../../protocol/error.js";
import type { HostServer } from "../options.js";
import { type ConfigDialect, DIALECTS, isRecord } from "./config-dialect.js";
import { type ConfigProblem, ProblemList } from "./config-problem.js";
import { fieldOf, SERVER_FIELDS } from "./server-fields.js";
import { parseReferences, ReferenceFlaw, renderReferences, type TextPart } from "./text-references.js";

/** The result of `writeServers`: a configuration to store, and the parts that its dialect cannot express. */
export interface WrittenServers {
  /** The whole file as an object. For Codex, serialize it as TOML. */
  readonly config: Record<string, unknown>;
  /** `error`: the server was left out, because it would behave differently. `warning`: only a field was left out. */
  readonly problems: ConfigProblem[];
}

type Entry = Record<string, unknown>;

/** Values that mean the same as leaving the field out. */
const DEFAULTS: Readonly<HostServer> = {
  disabled: false,
  required: false,
  trust: "untrusted",
  isolation: "shared",
  connections: 1,
  inheritEnv: false,
};

/**
 * Writes servers in the form of an application, so that a program can add them to that application's file. References
 * such as `${TOKEN}` are written in the notation of the application. To preserve references when reading the servers,
 * call `readServers` with `expand: false`. Everything that the form cannot express is listed in `problems`. A problem
 * never contains a value.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/host-config.md | Configuration}
 */
export function writeServers(servers: Readonly<Record<string, HostServer>>, dialect: ConfigDialect): WrittenServers {
  if (!Object.hasOwn(DIALECTS, dialect)) {
    throw new McpError("invalid_definition", "the dialect of writeServers is unknown", {
      fix: `Use one of: ${Object.keys(DIALECTS).join(", ")}.`,
    });
  }
  const problems = new ProblemList();
  const inputs = new Set<string>();
  const entries = Object.entries(servers).flatMap(([name, server]): [string, Entry][] => {
    const writer = new ServerWriter(name, server, dialect, problems, inputs);
    const entry = writer.entry();
    return entry === undefined ? [] : [[name, entry]];
  });
  const config: Record<string, unknown> = { [DIALECTS[dialect]]: Object.fromEntries(entries) };
  if (dialect === "vscode" && inputs.size > 0) {
    config.inputs = [...inputs].map((id) => ({ type: "promptString", id, description: id, password: true }));
  }
  return { config, problems: problems.all() };
}

class ServerWriter {
  readonly #name: string;
  readonly #server: HostServer;
  readonly #dialect: ConfigDialect;
  readonly #problems: ProblemList;
  readonly #inputs: Set<string>;
  #failed = false;

  constructor(name: string, server: HostServer, dialect: ConfigDialect, problems: ProblemList, inputs: Set<string>) {
    this.#name = name;
    this.#server = server;
    this.#dialect = dialect;
    this.#problems = problems;
    this.#inputs = inputs;
  }

  /** The entry; undefined if the dialect cannot express the same server. */
  entry(): Entry | undefined {
    const entry: Entry = {};
    for (const name of Object.keys(SERVER_FIELDS) as (keyof HostServer)[]) {
      const value = this.#server[name];
      if (value === undefined) continue;
      if (this.#dialect === "parley") entry[name] = this.#rendered(value, name);
      else if (!this.#write(name, entry) && !isEmpty(value) && value !== DEFAULTS[name]) this.#reportUnsupported(name);
    }
    const unknown = Object.keys(this.#server).find((name) => fieldOf(name) === undefined);
    if (unknown !== undefined) this.#reportUnsupported(unknown);
    return this.#failed ? undefined : entry;
  }

  /** Writes one field. Returns false if the dialect has no such field. */
  #write(name: keyof HostServer, entry: Entry): boolean {
    const { [name]: value, transport, url } = this.#server;
    const dialect = this.#dialect;
    if (name === "command" || name === "args" || (name === "cwd" && dialect !== "claude" && dialect !== "cursor")) {
      entry[name] = this.#rendered(value, name);
    } else if (name === "url") {
      entry[dialect === "gemini" && transport === "http" ? "httpUrl" : "url"] = this.#rendered(value, name);
      // The type is needed, because Claude treats an entry without a type as a program.
      if (dialect === "claude" || dialect === "vscode") entry.type = transport ?? "http";
    } else if (name === "transport") {
      return this.#transport(entry, url !== undefined);
    } else if (name === "env" || name === "headers") {
      this.#map(name, entry);
    } else if (dialect === "codex") {
      return this.#codexField(name, entry);
    } else if (name === "callMs" && (dialect === "gemini" || dialect === "claude")) {
      entry.timeout = value;
    } else if (dialect === "gemini" && name === "trust") {
      entry.trust = value === "trusted";
    } else if (dialect === "gemini" && name === "tools") {
      this.#tools(entry, "includeTools", "excludeTools");
    } else {
      return false;
    }
    return true;
  }

  #transport(entry: Entry, remote: boolean): boolean {
    const { transport } = this.#server;
    if (this.#dialect === "codex") {
      if (transport === "sse") this.#refuse("transport", "Codex does not support the transport `sse`");
      return true;
    }
    const named = this.#dialect === "gemini" ? transport === "sse" : !remote || this.#dialect === "cursor";
    if (named) entry.type = transport;
    return true;
  }

  #codexField(name: keyof HostServer, entry: Entry): boolean {
    const { disabled, required, startMs, callMs, inheritEnv } = this.#server;
    if (name === "disabled") entry.enabled = disabled !== true;
    else if (name === "required") entry.required = required;
    else if (name === "startMs") entry.startup_timeout_sec = (startMs ?? 0) / 1000;
    else if (name === "callMs") entry.tool_timeout_sec = (callMs ?? 0) / 1000;
    else if (name === "tools") this.#tools(entry, "enabled_tools", "disabled_tools");
    else if (name === "inheritEnv" && Array.isArray(inheritEnv)) entry.env_vars = inheritEnv;
    else return false;
    return true;
  }

  #tools(entry: Entry, allow: string, deny: string): void {
    const { tools } = this.#server;
    if (tools?.allow !== undefined) entry[allow] = this.#rendered(tools.allow, "tools");
    if (tools?.deny !== undefined) entry[deny] = this.#rendered(tools.deny, "tools");
  }

  /**
   * Writes environment variables and headers. Codex names variables in separate fields instead of using references.
   */
  #map(name: "env" | "headers", entry: Entry): void {
    const codex = this.#dialect === "codex";
    const target = codex && name === "headers" ? "http_headers" : name;
    for (const [key, text] of Object.entries(this.#server[name] ?? {})) {
      const parts = this.#parts(text, [name, key]);
      if (parts === undefined || (codex && name === "headers" && addCodexVariableHeader(key, parts, entry))) continue;
      add(entry, target, key, this.#render(parts, [name, key]));
    }
  }

  /** The value, with the references of all its strings in the notation of the dialect. */
  #rendered(value: unknown, ...path: string[]): unknown {
    if (typeof value === "string") {
      const parts = this.#parts(value, path);
      return parts === undefined ? undefined : this.#render(parts, path);
    }
    if (Array.isArray(value)) return value.map((item, at) => this.#rendered(item, ...path, String(at)));
    if (!isRecord(value)) return value;
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.fromEntries(members.map(([key, member]) => [key, this.#rendered(member, ...path, key)]));
  }

  #parts(text: string, path: readonly string[]): TextPart[] | undefined {
    return this.#unlessFlawed(path, () => parseReferences(text));
  }

  #render(parts: readonly TextPart[], path: readonly string[]): string | undefined {
    for (const part of parts) if (typeof part !== "string" && part.kind === "input") this.#inputs.add(part.id);
    return this.#unlessFlawed(path, () => renderReferences(parts, this.#dialect));
  }

  #unlessFlawed<T>(path: readonly string[], run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof ReferenceFlaw)) throw error;
      this.#refuse(path, `the text ${error.message}, which files of "${this.#dialect}" do not support`);
      return undefined;
    }
  }

  #refuse(path: string | readonly string[], message: string): void {
    this.#failed = true;
    this.#report("error", path, message, "Change the value, or add the server by hand.");
  }

  #reportUnsupported(name: string): void {
    // A disabled server must not become enabled in another file.
    if (name === "disabled") this.#refuse(name, `files of "${this.#dialect}" cannot disable a server`);
    else this.#report("warning", name, `files of "${this.#dialect}" have no such field`, "Remove the field.");
  }

  #report(severity: ConfigProblem["severity"], path: string | readonly string[], message: string, fix: string): void {
    const below = typeof path === "string" ? [path] : path;
    this.#problems.add(severity, ["servers", this.#name, ...below], this.#name, message, fix);
  }
}

/**
 * Writes a header whose value is an environment variable, or `Bearer` and a variable. Returns false for other values.
 */
function addCodexVariableHeader(name: string, parts: readonly TextPart[], entry: Entry): boolean {
  const [first, second] = parts;
  if (parts.length === 1 && isPlainVariable(first)) {
    add(entry, "env_http_headers", name, first.name);
    return true;
  }
  const isBearer = parts.length === 2 && first === "Bearer " && name.toLowerCase() === "authorization";
  if (!isBearer || !isPlainVariable(second)) return false;
  entry.bearer_token_env_var = second.name;
  return true;
}

function isPlainVariable(part: TextPart | undefined): part is Extract<TextPart, { kind: "env" }> {
  return typeof part === "object" && part.kind === "env" && part.otherwise === undefined;
}

function add(entry: Entry, target: string, key: string, value: unknown): void {
  const before = entry[target];
  // `fromEntries` makes even `__proto__` an ordinary member.
  entry[target] = Object.fromEntries([...Object.entries(isRecord(before) ? before : {}), [key, value]]);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
