import type { HostServer } from "../options.js";
import { type ConfigDialect, isRecord } from "./config-dialect.js";
import type { FieldReader } from "./server-fields.js";
import { parseEnvFile } from "./small-file.js";

/** A server whose fields are still being read. */
export type ServerDraft = { -readonly [K in keyof HostServer]: HostServer[K] };

type Rule = (value: unknown, draft: ServerDraft, read: FieldReader, path: readonly string[]) => void;

/** The transports by the names that applications use for them. */
const TRANSPORTS: Readonly<Record<string, NonNullable<HostServer["transport"]>>> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  "streamable-http": "http",
  streamable_http: "http",
  streamableHttp: "http",
  sse: "sse",
};

const allow: Rule = (value, draft, read, path) => {
  const names = read.texts(value, path);
  // Some applications write `*` for all tools. Without `allow`, all tools are offered too.
  if (names !== undefined && !names.includes("*")) draft.tools = { ...draft.tools, allow: names };
};

const deny: Rule = (value, draft, read, path) => {
  const names = read.texts(value, path);
  if (names !== undefined) draft.tools = { ...draft.tools, deny: names };
};

const seconds =
  (field: "startMs" | "callMs"): Rule =>
  (value, draft, read, path) => {
    const found = read.number(value, path);
    if (found !== undefined) draft[field] = Math.max(1, Math.round(found * 1000));
  };

const address =
  (transport: HostServer["transport"]): Rule =>
  (value, draft, read, path) => {
    const url = read.text(value, path);
    if (url !== undefined) draft.url = url;
    if (transport !== undefined) draft.transport ??= transport;
  };

/**
 * Matches names that look like an environment variable rather than a token: capitals, and short or with underscores.
 */
const VARIABLE_STYLE = /^(?:[A-Z][A-Z0-9]{0,11}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]{1,16})+)$/;

/** Adds headers. Headers that are already set win. */
function addHeaders(draft: ServerDraft, headers: Readonly<Record<string, string>>): void {
  draft.headers = { ...headers, ...draft.headers };
}

/** Returns the value of the variable `name`, or a reference to it if references are kept. */
function valueOfVariable(name: unknown, read: FieldReader, path: readonly string[]): string | undefined {
  if (typeof name !== "string" || !/^[A-Za-z_]\w{0,254}$/.test(name)) {
    return read.problem(
      path,
      "error",
      "the value must be the name of an environment variable",
      "Write the name, not the value.",
    );
  }
  if (!read.fills) return `\${${name}}`;
  const value = read.expander.variable(name);
  if (value !== undefined) return value;
  // People paste the token instead of the name of its variable. Such a token must not be shown.
  const shown = VARIABLE_STYLE.test(name) ? `the variable ${name}` : "the variable named here";
  return read.problem(
    path,
    "error",
    `${shown} is not set`,
    "Set the variable. This field holds its name, not its value.",
  );
}

/** Fields of other applications, and how they translate to ours. */
const RULES: Readonly<Record<string, Rule>> = {
  type(value, draft, read, path) {
    const known = typeof value === "string" && Object.hasOwn(TRANSPORTS, value) ? TRANSPORTS[value] : undefined;
    if (known !== undefined) draft.transport = known;
    else read.problem(path, "error", "the transport is not supported", 'Write "stdio", "http" or "sse".');
  },
  httpUrl: address("http"),
  serverUrl: address(undefined),
  envFile(value, draft, read, path) {
    if (!read.fills) {
      return read.problem(
        path,
        "warning",
        "`envFile` is ignored while references are kept",
        "Write the variables into `env`.",
      );
    }
    const file = read.text(value, path);
    const text =
      file === undefined ? undefined : read.expander.file(file, "the file", (...one) => read.problem(path, ...one));
    if (text !== undefined) draft.env = { ...parseEnvFile(text), ...draft.env };
  },
  env_vars(value, draft, read, path) {
    const names = Array.isArray(value) ? value.map((one: unknown) => (isRecord(one) ? one.name : one)) : value;
    const found = read.texts(names, path);
    if (found !== undefined && !Array.isArray(draft.inheritEnv)) draft.inheritEnv ??= found;
  },
  http_headers(value, draft, read, path) {
    const headers = read.textMap(value, path);
    if (headers !== undefined) addHeaders(draft, headers);
  },
  env_http_headers(value, draft, read, path) {
    const headers = read.textMap(value, path, (name, at) => valueOfVariable(name, read, at));
    if (headers !== undefined) addHeaders(draft, headers);
  },
  bearer_token_env_var(value, draft, read, path) {
    const token = (name: unknown) => valueOfVariable(name, read, path);
    const headers = read.textMap({ Authorization: value }, path, token);
    if (headers !== undefined) addHeaders(draft, { Authorization: `Bearer ${headers.Authorization}` });
  },
  timeout(value, draft, read, path) {
    const found = read.number(value, path);
    if (found !== undefined) draft.callMs ??= Math.ceil(found);
  },
  startup_timeout_ms(value, draft, read, path) {
    const found = read.number(value, path);
    if (found !== undefined) draft.startMs ??= Math.ceil(found);
  },
  startup_timeout_sec: seconds("startMs"),
  tool_timeout_sec: seconds("callMs"),
  enabled(value, draft, read, path) {
    const found = read.flag(value, path);
    if (found !== undefined) draft.disabled ??= !found;
  },
  includeTools: allow,
  enabled_tools: allow,
  excludeTools: deny,
  disabled_tools: deny,
  disabledTools: deny,
  headersHelper(_value, _draft, read, path) {
    read.problem(
      path,
      "warning",
      "`headersHelper` is ignored: its program is never started",
      "Write the headers into `headers`.",
    );
  },
};

/**
 * Fields that our form and other applications both have, but with different types. `when` recognises the foreign type,
 * and `rule` translates the value to ours.
 */
const SHARED_NAMES: Readonly<Record<string, { readonly when: (value: unknown) => boolean; readonly rule: Rule }>> = {
  trust: {
    when: (value) => typeof value === "boolean",
    rule(value, draft) {
      draft.trust = value === true ? "trusted" : "untrusted";
    },
  },
  tools: { when: (value) => Array.isArray(value), rule: allow },
};

/** Fields of other applications that are ignored. */
const IGNORED = new Set(
  (
    "name description icon icons note notes version gallery metadata dev sandbox sandboxEnabled oauth auth authProviderType " +
    "targetAudience targetServiceAccount extension extensionName tcp alwaysLoad alwaysAllow autoApprove scopes oauth_resource " +
    "bearer_token supports_parallel_tool_calls default_tools_approval_mode experimental_environment environment_id"
  ).split(" "),
);

/**
 * Returns the rule for a field of another application, or `ignore` if the field has no meaning here. Returns undefined
 * for other fields.
 */
export function foreignRule(name: string, value: unknown, dialect: ConfigDialect): Rule | "ignore" | undefined {
  // In Codex files `tools` holds approvals of single tools. In our form it selects the tools to offer.
  if (dialect === "codex" && name === "tools") return "ignore";
  const shared = Object.hasOwn(SHARED_NAMES, name) ? SHARED_NAMES[name] : undefined;
  if (shared?.when(value) === true) return shared.rule;
  if (Object.hasOwn(RULES, name)) return RULES[name];
  return IGNORED.has(name) ? "ignore" : undefined;
}

/** The names of all fields that other applications define. */
export const FOREIGN_NAMES: readonly string[] = [...Object.keys(RULES), ...IGNORED];
