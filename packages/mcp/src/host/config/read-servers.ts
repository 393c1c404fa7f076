import { nearestName } from "../../encoding/nearest-name.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { HostServer } from "../options.js";
import {
  type ConfigDialect,
  DIALECTS,
  type FoundServers,
  findServers,
  isRecord,
  isReservedName,
  own,
} from "./config-dialect.js";
import { type ConfigProblem, ProblemList, shownName } from "./config-problem.js";
import { type ConfigInput, type Report, TextExpander, type ValueSources } from "./expand-text.js";
import { FOREIGN_NAMES, foreignRule, type ServerDraft } from "./foreign-fields.js";
import { parseJsonc } from "./parse-jsonc.js";
import { FieldReader, fieldOf, SERVER_FIELDS } from "./server-fields.js";
import { asTemplate, parseReferences, ReferenceFlaw, renderReferences } from "./text-references.js";

/** Options for reading a configuration. */
export interface ReadServersOptions extends ValueSources {
  /** The application whose form the configuration has. Default: detected by its fields. */
  readonly dialect?: ConfigDialect | undefined;
  /**
   * True to fill in references such as `${TOKEN}`. Default: true. If false, references are kept in the notation of our
   * own form, for programs that rewrite a file with `writeServers`.
   */
  readonly expand?: boolean | undefined;
}

/** The servers of a configuration, and its problems. */
export interface ReadServers {
  /** The servers by name. A server with an error is `disabled` and has only the fields that could be read. */
  readonly servers: Record<string, HostServer>;
  /** The problems of single fields, of servers and of the file. */
  readonly problems: ConfigProblem[];
  /** The values to ask the user for, as VS Code files declare them. */
  readonly inputs: ConfigInput[];
  /** The form of the configuration: the given one, or the detected one. */
  readonly dialect: ConfigDialect;
}

/** Maximum number of servers, and of inputs, in one configuration. Further ones are ignored. */
const MAX_SERVERS = 1000;
/** Maximum length of a server's name. A server with a longer name is left out. */
const MAX_NAME_LENGTH = 128;

/**
 * Reads the servers from a configuration file of Claude, Cursor, VS Code, Codex, Gemini or our own form, given as text
 * (JSON with comments and trailing commas) or as a parsed object. It starts no server and runs no command. An invalid
 * server is disabled without affecting the others and is listed in `problems`. A problem never contains a value. Throws
 * `invalid_definition` only for text that is not JSON and for invalid options.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/host-config.md | Configuration}
 */
export function readServers(config: unknown, options: ReadServersOptions): ReadServers {
  checkOptions<ReadServersOptions, typeof OPTIONS>("readServers", options, OPTIONS);
  if (!isRecord(options?.env)) {
    throw new McpError("invalid_definition", "`env` of readServers is missing", {
      fix: "Pass the environment, on Node `process.env`, or `{}` for none.",
    });
  }
  if (options.dialect !== undefined && !Object.hasOwn(DIALECTS, options.dialect)) {
    throw new McpError("invalid_definition", "`dialect` of readServers is unknown", {
      fix: `Use one of: ${Object.keys(DIALECTS).join(", ")}.`,
    });
  }
  const parsed = typeof config === "string" ? parseJsonc(config, "the configuration") : config;
  const problems = new ProblemList();
  const found = isRecord(parsed) ? findServers(parsed, options.dialect) : undefined;
  if (!isRecord(parsed) || found === undefined) {
    const known = [...new Set(Object.values(DIALECTS))].map((name) => `\`${name}\``).join(", ");
    problems.add("error", [], undefined, "the configuration has no servers", `Write them as an object under ${known}.`);
    return { servers: {}, problems: problems.all(), inputs: [], dialect: options.dialect ?? "parley" };
  }
  const inputs = inputsOf(found.path.length > 1 ? own(parsed, "mcp") : parsed);
  const servers = new ServersReader(found, options, inputs, problems).all();
  return { servers, problems: problems.all(), inputs, dialect: found.dialect };
}

const OPTIONS = "env readFile files baseFolder workspaceFolder userHome input dialect expand";

/** Reads the declared inputs; skips those without an id. */
function inputsOf(config: unknown): ConfigInput[] {
  const list = isRecord(config) ? own(config, "inputs") : undefined;
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_SERVERS).flatMap((one: unknown): ConfigInput[] => {
    if (!isRecord(one) || typeof one.id !== "string") return [];
    const text = (name: string) => (typeof one[name] === "string" ? { [name]: one[name] } : {});
    const options = Array.isArray(one.options) ? one.options.filter((item) => typeof item === "string") : undefined;
    return [
      {
        id: one.id,
        ...text("type"),
        ...text("description"),
        ...text("default"),
        ...(typeof one.password === "boolean" ? { password: one.password } : {}),
        ...(options === undefined ? {} : { options }),
      },
    ];
  });
}

class ServersReader {
  readonly #found: FoundServers;
  readonly #options: ReadServersOptions;
  readonly #problems: ProblemList;
  readonly #expander: TextExpander;

  constructor(found: FoundServers, options: ReadServersOptions, inputs: readonly ConfigInput[], problems: ProblemList) {
    this.#found = found;
    this.#options = options;
    this.#problems = problems;
    const byId = new Map(inputs.map((input) => [input.id, input]));
    this.#expander = new TextExpander(options, byId, found.dialect === "gemini");
  }

  all(): Record<string, HostServer> {
    const entries = Object.entries(this.#found.entries);
    if (entries.length > MAX_SERVERS) {
      const message = `there are more than ${MAX_SERVERS} servers (MAX_SERVERS); the rest is ignored`;
      this.#problems.add("error", this.#found.path, undefined, message, "Remove some.");
    }
    const read = entries.slice(0, MAX_SERVERS).flatMap(([name, entry]): [string, HostServer][] => {
      const server = this.#isName(name) ? this.#server(name, entry) : undefined;
      return server === undefined ? [] : [[name, server]];
    });
    return Object.fromEntries(read);
  }

  #isName(name: string): boolean {
    // Names with control characters are refused, because they could forge lines in logs and lists.
    const fits =
      name.trim() !== "" && name.length <= MAX_NAME_LENGTH && shownName(name.slice(0, 80)) === name.slice(0, 80);
    if (fits && !isReservedName(name)) return true;
    const path = [...this.#found.path, name];
    const message = `"${shownName(name)}" is not a valid server name`;
    this.#problems.add(
      "error",
      path,
      undefined,
      message,
      `Use another name of up to ${MAX_NAME_LENGTH} printable characters.`,
    );
    return false;
  }

  #server(name: string, entry: unknown): HostServer {
    const draft: ServerDraft = {};
    let failed = false;
    const path = [...this.#found.path, name];
    const read = this.#fieldReader((below, severity, message, fix) => {
      failed ||= severity === "error";
      this.#problems.add(severity, [...path, ...below], name, message, fix);
    });
    if (isRecord(entry)) {
      this.#fields(entry, draft, read);
      if (!failed) checkReach(draft, read);
    } else {
      read.problem([], "error", "the entry must be an object", "Write an object with `command` or `url`.");
    }
    if (failed) draft.disabled = true;
    return draft;
  }

  #fieldReader(report: ConstructorParameters<typeof FieldReader>[1]): FieldReader {
    const fills = this.#options.expand !== false;
    return new FieldReader((text, reportFlaw) => this.#text(text, fills, reportFlaw), report, this.#expander, fills);
  }

  /** Expands a string. Strings in Codex files have no references; strings in all other forms may have them. */
  #text(text: string, fills: boolean, report: Report): string | undefined {
    const { dialect } = this.#found;
    if (dialect === "codex") return fills ? text : asTemplate(text);
    if (fills) return this.#expander.expand(text, report);
    try {
      return renderReferences(parseReferences(text, dialect === "gemini"), "parley");
    } catch (error) {
      if (!(error instanceof ReferenceFlaw)) throw error;
      report("error", `the text ${error.message}`, "Correct the reference, or write `$${` for a literal `${`.");
      return undefined;
    }
  }

  #fields(entry: Readonly<Record<string, unknown>>, draft: ServerDraft, read: FieldReader): void {
    const later: (() => void)[] = [];
    for (const [name, value] of Object.entries(entry)) {
      if (value === undefined) continue;
      const rule = foreignRule(name, value, this.#found.dialect);
      if (rule === "ignore") continue;
      // Our own fields come first, because foreign fields add to them.
      if (rule !== undefined) later.push(() => rule(value, draft, read, [name]));
      else this.#ownField(name, value, draft, read);
    }
    for (const run of later) run();
    if (read.fills && draft.cwd !== undefined) draft.cwd = this.#expander.path(draft.cwd);
  }

  #ownField(name: string, value: unknown, draft: ServerDraft, read: FieldReader): void {
    const field = fieldOf(name);
    if (field === undefined) {
      const meant = nearestName(name, [...Object.keys(SERVER_FIELDS), ...FOREIGN_NAMES]);
      const shown = shownName(name);
      read.problem(
        [name],
        "warning",
        `"${shown}" is not a field of a server${meant === undefined ? "" : `; did you mean "${meant}"?`}`,
        meant === undefined ? "Remove it." : `Write \`${meant}\` in place of \`${shown}\`.`,
      );
      return;
    }
    const found = read.read(field, value, [name]);
    // Safe: `SERVER_FIELDS` gives each field the kind that matches its type.
    if (found !== undefined) Object.assign(draft, { [name]: found });
  }
}

/**
 * Checks that a server has exactly one of `command` and `url`, that this value is valid, and that the transport matches
 * it.
 */
function checkReach(draft: ServerDraft, read: FieldReader): void {
  const { command, url, transport } = draft;
  if (command === undefined && url === undefined) {
    return read.problem([], "error", "the server has neither `command` nor `url`", "Add one of them.");
  }
  if (command !== undefined && url !== undefined) {
    return read.problem([], "error", "the server has both `command` and `url`", "Remove one of them.");
  }
  if (command?.trim() === "")
    return read.problem(["command"], "error", "the command is empty", "Write the program to start.");
  if (transport !== undefined && (transport === "stdio") !== (command !== undefined)) {
    const given = command === undefined ? "`url`" : "`command`";
    read.problem([], "error", `the transport "${transport}" cannot be used with ${given}`, "Remove the transport.");
  }
  if (url === undefined || (!read.fills && url.includes("${"))) return;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    read.problem(["url"], "error", "`url` is not an HTTP URL", "Write a URL that begins with https:// or http://.");
  }
}
