import { platform } from "#platform";
import type { ClientOptions } from "../../../client/contract/options.js";
import { nearestName } from "../../../encoding/nearest-name.js";
import { checkOptions } from "../../../protocol/check-options.js";
import { McpError } from "../../../protocol/error.js";
import type { ServerOptions } from "../../../server/contract/options.js";
import type { HostOptions, HostServer } from "../../options.js";
import { isRecord } from "../config-dialect.js";
import { type ConfigProblem, ProblemList, shownName } from "../config-problem.js";
import { type ConfigInput, TextExpander, type ValueSources } from "../expand-text.js";
import { parseJsonc } from "../parse-jsonc.js";
import { readServers } from "../read-servers.js";
import {
  expectedValue,
  groupOf,
  type HttpSettings,
  isSwitch,
  parseVariable,
  SETTINGS,
  type Setting,
  type SettingGroup,
  type Settings,
  type StdioSettings,
} from "./settings.js";

/**
 * The options of an application that a file can hold. Functions, and objects such as a storage, must be set in the
 * program.
 */
export interface AppConfig {
  /** The URL of the JSON Schema, for editors. `loadConfig` ignores it. */
  readonly $schema?: string | undefined;
  /** Options of `new Server`. */
  readonly server?: Settings<ServerOptions> | undefined;
  /** Options of `connect`. */
  readonly client?: Settings<ClientOptions> | undefined;
  /** Options of `serveHttp`. */
  readonly http?: HttpSettings | undefined;
  /** Options of `serveStdio`. */
  readonly stdio?: StdioSettings | undefined;
  /** Options of `new Host`, except `servers`. */
  readonly host?: Settings<HostOptions> | undefined;
  /** The servers of a host, by name. */
  readonly servers?: Readonly<Record<string, HostServer>> | undefined;
  /** The values that `${input:id}` asks the user for. */
  readonly inputs?: readonly ConfigInput[] | undefined;
}

/** The sources of a configuration, from the weakest to the strongest: defaults, file, environment, overrides. */
export interface LoadConfigOptions extends Partial<ValueSources> {
  /** Settings of the application that apply unless another source sets them. Default: none. */
  readonly defaults?: AppConfig | undefined;
  /**
   * The file, as `readConfigFile` of `@parley/mcp/node` returns it. Its content is an object, or text that is JSON with
   * comments. Default: no file.
   */
  readonly file?: { readonly path: string; readonly folder?: string; readonly content: unknown } | undefined;
  /** Settings of the program, which win over all other sources. Default: none. */
  readonly overrides?: AppConfig | undefined;
}

/** The settings of an application, ready to be passed to the functions that take them. */
export interface LoadedConfig {
  /** Options for `new Server`; empty if nothing was set. */
  readonly server: Settings<ServerOptions>;
  /** Options for `connect`; empty if nothing was set. */
  readonly client: Settings<ClientOptions>;
  /** Options for `serveHttp`; empty if nothing was set. */
  readonly http: HttpSettings;
  /** Options for `serveStdio`; empty if nothing was set. */
  readonly stdio: StdioSettings;
  /** Options for `new Host`, except `servers`; empty if nothing was set. */
  readonly host: Settings<HostOptions>;
  /** The servers of a host by name, with their references filled in. */
  readonly servers: Record<string, HostServer>;
  /** The problems of single servers. A server with an error is disabled. */
  readonly problems: ConfigProblem[];
  /**
   * The source of each setting, by its path such as `http.port`: the name of a variable, `file`, `defaults` or
   * `overrides`.
   */
  readonly from: Readonly<Record<string, string>>;
}

/** The prefix of all variables. */
const PREFIX = "PARLEY_";
/** Variables with the prefix that are not settings: the path of the file, and the folder of the command line. */
const OTHER_VARIABLES = ["PARLEY_CONFIG", "PARLEY_HOME"];

/**
 * Returns the configuration unchanged. Lets editors and the compiler check a configuration file in TypeScript or
 * JavaScript.
 *
 * @example
 * ```ts
 * import { defineConfig } from "@parley/mcp/config";
 *
 * export default defineConfig({ servers: { notes: { command: "node", args: ["notes.js"] } } });
 * ```
 */
export function defineConfig(config: AppConfig): AppConfig {
  return config;
}

/**
 * Combines the configuration of an application from its sources: defaults, the file, environment variables
 * (`PARLEY_HTTP_PORT` sets `http.port`) and overrides. Later sources win, setting by setting. Strings in the file may
 * have references such as `${TOKEN}`. Throws one `invalid_definition` that lists every unknown key or variable, with
 * the nearest known name, and every value of the wrong type. The error never contains a value. It also lists the errors
 * of servers with `required`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/host-config.md | Configuration}
 */
export function loadConfig(options: LoadConfigOptions = {}): LoadedConfig {
  checkOptions<LoadConfigOptions, typeof OPTIONS>("loadConfig", options, OPTIONS);
  const { defaults, file, env = {}, overrides } = options;
  const sources: ValueSources = {
    files: platform.files?.(),
    ...valueSources(options),
    env,
    baseFolder: options.baseFolder ?? file?.folder,
  };
  const layers = new ConfigLayers(new TextExpander(sources));
  const content = typeof file?.content === "string" ? parseJsonc(file.content, `the file ${file.path}`) : file?.content;
  layers.addObject("defaults", defaults);
  layers.addObject("file", content);
  layers.addVariables(env);
  layers.addObject("overrides", overrides);
  const ofFile = isRecord(content) && content.servers !== undefined ? content : undefined;
  const read = ofFile === undefined ? undefined : readServers(ofFile, { ...sources, dialect: "parley" });
  layers.addRequired(read?.problems ?? [], read?.servers ?? {});
  layers.throwProblems();
  return {
    ...layers.sections(),
    servers: { ...defaults?.servers, ...read?.servers, ...overrides?.servers },
    problems: read?.problems ?? [],
    from: layers.from(),
  };
}

const OPTIONS = "defaults file env overrides readFile files baseFolder workspaceFolder userHome input";

function valueSources({ readFile, files, workspaceFolder, userHome, input }: LoadConfigOptions): Partial<ValueSources> {
  return {
    readFile,
    ...(files === undefined ? {} : { files }),
    workspaceFolder,
    userHome,
    input,
  };
}

/** A setting that a source sets. */
interface SetValue {
  readonly keys: readonly string[];
  readonly value: unknown;
  readonly by: string;
}

class ConfigLayers {
  readonly #expander: TextExpander;
  readonly #problems = new ProblemList();
  readonly #setValues = new Map<string, SetValue>();

  constructor(expander: TextExpander) {
    this.#expander = expander;
  }

  addObject(layer: "defaults" | "file" | "overrides", value: unknown): void {
    if (value === undefined) return;
    if (!isRecord(value)) return this.#problem([], `the ${layer} must be an object`, "Write an object.");
    const { servers: _servers, inputs: _inputs, $schema: _schema, ...sections } = value;
    this.#group(SETTINGS, sections, [], layer, ["servers", "inputs"]);
  }

  #group(
    settings: SettingGroup,
    value: Readonly<Record<string, unknown>>,
    path: readonly string[],
    layer: string,
    further: readonly string[] = [],
  ): void {
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const keys = [...path, name];
      const setting = Object.hasOwn(settings, name) ? settings[name] : undefined;
      if (setting === undefined) this.#unknown(keys, [...Object.keys(settings), ...further]);
      else this.#member(keys, setting, member, layer);
    }
  }

  #member(keys: readonly string[], setting: Setting, value: unknown, layer: string): void {
    const group = groupOf(setting);
    if (group !== undefined && isRecord(value)) this.#group(group, value, keys, layer);
    else this.#set(keys, setting, layer === "file" ? this.#expanded(value, keys) : value, layer);
  }

  addVariables(env: Readonly<Record<string, string | undefined>>): void {
    const known = variablesOf(SETTINGS);
    for (const [name, text] of Object.entries(env)) {
      if (!name.startsWith(PREFIX) || OTHER_VARIABLES.includes(name) || text === undefined) continue;
      const found = known.get(name);
      if (found === undefined) this.#unknown([name], [...known.keys(), ...OTHER_VARIABLES], "a known variable");
      else this.#set(found.keys, found.setting, parseVariable(found.setting, text), name);
    }
  }

  #set(keys: readonly string[], setting: Setting, value: unknown, by: string): void {
    const expected = expectedValue(setting, value);
    const path = keys.join(".");
    if (expected === undefined) {
      // A group is either turned off or has members. A source that turns the group off removes the members that earlier
      // sources set, and a source that sets a member removes an earlier `false`.
      for (const one of this.#setValues.keys()) {
        if (one.startsWith(`${path}.`) || path.startsWith(`${one}.`)) this.#setValues.delete(one);
      }
      this.#setValues.set(path, { keys, value, by });
    } else
      this.#problem(by.startsWith(PREFIX) ? [by] : keys, `the value must be ${expected}`, `Set it to ${expected}.`);
  }

  #expanded(value: unknown, keys: readonly string[]): unknown {
    if (typeof value === "string") {
      // The empty string replaces the missing value, so that no second problem is reported for it.
      return this.#expander.expand(value, (_severity, message, fix) => this.#problem(keys, message, fix)) ?? "";
    }
    if (Array.isArray(value)) return value.map((item: unknown) => this.#expanded(item, keys));
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.#expanded(member, keys)]));
  }

  #unknown(keys: readonly string[], known: readonly string[], what = "a setting"): void {
    const name = keys.at(-1) ?? "";
    const meant = nearestName(name, known);
    const advice =
      known.length > 40 ? "Remove it, or see the list in the documentation." : `Use one of: ${known.join(", ")}.`;
    this.#problem(
      keys,
      `"${shownName(name)}" is not ${what}${meant === undefined ? "" : `; did you mean "${meant}"?`}`,
      meant === undefined ? advice : `Write \`${meant}\`.`,
    );
  }

  /** Reports the problems of required servers, because the application cannot run without them. */
  addRequired(problems: readonly ConfigProblem[], servers: Readonly<Record<string, HostServer>>): void {
    for (const { severity, server, path, message, fix } of problems) {
      const isRequired = server !== undefined && servers[server]?.required === true;
      if (severity === "error" && isRequired) this.#problem(path.split("."), message, fix);
    }
  }

  #problem(path: readonly string[], message: string, fix: string): void {
    this.#problems.add("error", path, undefined, message, fix);
  }

  throwProblems(): void {
    const problems = this.#problems.all();
    const [first] = problems;
    if (first === undefined) return;
    const lines = problems.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
    const message = `the configuration is invalid: ${lines.join("\n")}`;
    throw new McpError("invalid_definition", message, { fix: first.fix, data: { problems } });
  }

  sections(): Pick<LoadedConfig, keyof typeof SETTINGS> {
    const sections: Record<string, Record<string, unknown>> = { server: {}, client: {}, http: {}, stdio: {}, host: {} };
    for (const { keys, value } of this.#setValues.values()) {
      let at: Record<string, unknown> = sections;
      for (const key of keys.slice(0, -1)) {
        at[key] ??= {};
        // Safe: every object on the path was created in this function.
        at = at[key] as Record<string, unknown>;
      }
      at[keys.at(-1) ?? ""] = value;
    }
    // Safe: every value was checked against `SETTINGS`, which matches the types.
    return sections as unknown as Pick<LoadedConfig, keyof typeof SETTINGS>;
  }

  from(): Record<string, string> {
    return Object.fromEntries([...this.#setValues].map(([path, { by }]) => [path, by]));
  }
}

/** A setting that a variable sets. */
interface VariableSetting {
  readonly keys: readonly string[];
  readonly setting: Setting;
}

/** The variables of all settings below a group. */
function variablesOf(settings: SettingGroup, path: readonly string[] = []): Map<string, VariableSetting> {
  const entries = Object.entries(settings).flatMap(([name, setting]): [string, VariableSetting][] => {
    const keys = [...path, name];
    const group = groupOf(setting);
    const below = group === undefined ? [] : [...variablesOf(group, keys)];
    return group === undefined || isSwitch(setting) ? [[variableName(keys), { keys, setting }], ...below] : below;
  });
  return new Map(entries);
}

/** Returns the variable for a setting: `PARLEY_HTTP_LIMITS_MAX_STREAMS` for `http.limits.maxStreams`. */
function variableName(keys: readonly string[]): string {
  return PREFIX + keys.map((key) => key.replace(/[A-Z]/g, (char) => `_${char}`).toUpperCase()).join("_");
}

/**
 * Lists every variable that `loadConfig` reads, in the order of the settings.
 *
 * @example
 * ```ts
 * import { configVariables } from "@parley/mcp/config";
 *
 * for (const name of configVariables()) console.log(name, process.env[name] ?? "(not set)");
 * ```
 */
export function configVariables(): string[] {
  return [...variablesOf(SETTINGS).keys()];
}
