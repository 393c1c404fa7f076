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
  /** Whose form the configuration has. Default: what its fields say. */
  readonly dialect?: ConfigDialect | undefined;
  /**
   * Whether references such as `${TOKEN}` are filled in. Default: true. With false they are kept, in our own notation, for programs
   * that rewrite a file with `writeServers`.
   */
  readonly expand?: boolean | undefined;
}

/** What a configuration holds. */
export interface ReadServers {
  /** The servers by name. One with an error is `disabled`, and has the fields that could be read. */
  readonly servers: Record<string, HostServer>;
  /** What is wrong, field by field. */
  readonly problems: ConfigProblem[];
  /** What the user is to be asked for before the servers are complete, as files of VS Code declare it. */
  readonly inputs: ConfigInput[];
  /** The form that was found. */
  readonly dialect: ConfigDialect;
}

/** Servers of one configuration. */
const MAX_SERVERS = 1000;
/** Length of the name of a server. */
const MAX_NAME_LENGTH = 128;

/**
 * Reads the servers of a configuration file of Claude, Cursor, VS Code, Codex, Gemini or our own, given as text (JSON with comments
 * and trailing commas) or parsed. Nothing is started and no command runs. What is wrong with one server disables that server alone,
 * and is listed in `problems`; no text of a problem ever holds a value. Throws only for a text that is no JSON, and for wrong options.
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

/** The declared inputs. */
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
      const message = `there are more than ${MAX_SERVERS} servers (MAX_SERVERS); the others are left out`;
      this.#problems.add("error", this.#found.path, undefined, message, "Remove some.");
    }
    const read = entries.slice(0, MAX_SERVERS).flatMap(([name, entry]): [string, HostServer][] => {
      const server = this.#isName(name) ? this.#server(name, entry) : undefined;
      return server === undefined ? [] : [[name, server]];
    });
    return Object.fromEntries(read);
  }

  #isName(name: string): boolean {
    // Control characters and the like would forge lines of logs and of lists.
    const fits =
      name.trim() !== "" && name.length <= MAX_NAME_LENGTH && shownName(name.slice(0, 80)) === name.slice(0, 80);
    if (fits && !isReservedName(name)) return true;
    const path = [...this.#found.path, name];
    const message = `"${shownName(name)}" cannot be the name of a server`;
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
    return new FieldReader((text, tell) => this.#text(text, fills, tell), report, this.#expander, fills);
  }

  /** Codex takes texts as they stand; all others have references in them. */
  #text(text: string, fills: boolean, report: Report): string | undefined {
    const { dialect } = this.#found;
    if (dialect === "codex") return fills ? text : asTemplate(text);
    if (fills) return this.#expander.expand(text, report);
    try {
      return renderReferences(parseReferences(text, dialect === "gemini"), "parley");
    } catch (error) {
      if (!(error instanceof ReferenceFlaw)) throw error;
      report("error", `the text ${error.message}`, "Correct the reference, or write `$${` for a plain `${`.");
      return undefined;
    }
  }

  #fields(entry: Readonly<Record<string, unknown>>, draft: ServerDraft, read: FieldReader): void {
    const later: (() => void)[] = [];
    for (const [name, value] of Object.entries(entry)) {
      if (value === undefined) continue;
      const rule = foreignRule(name, value, this.#found.dialect);
      if (rule === "ignore") continue;
      // Ours come first, because theirs add to them.
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
    // Safe: the table has for each field the kind of its type.
    if (found !== undefined) Object.assign(draft, { [name]: found });
  }
}

/** A server needs one way to be reached, and a transport that fits it. */
function checkReach(draft: ServerDraft, read: FieldReader): void {
  const { command, url, transport } = draft;
  if (command === undefined && url === undefined) {
    return read.problem([], "error", "the server has neither `command` nor `url`", "Write one of them.");
  }
  if (command !== undefined && url !== undefined) {
    return read.problem([], "error", "the server has both `command` and `url`", "Remove one of them.");
  }
  if (command?.trim() === "") return read.problem(["command"], "error", "the command is empty", "Name a program.");
  if (transport !== undefined && (transport === "stdio") !== (command !== undefined)) {
    const given = command === undefined ? "`url`" : "`command`";
    read.problem([], "error", `the transport "${transport}" does not fit ${given}`, "Remove the transport.");
  }
  if (url === undefined || (!read.fills && url.includes("${"))) return;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    read.problem(["url"], "error", "the address is no URL of HTTP", "Write one that begins with https:// or http://.");
  }
}
