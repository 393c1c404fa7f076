import type { HostServer } from "../options.js";
import { type ConfigDialect, isRecord } from "./config-dialect.js";
import type { FieldReader } from "./server-fields.js";
import { parseEnvFile } from "./small-file.js";

/** A server that is being read. */
export type ServerDraft = { -readonly [K in keyof HostServer]: HostServer[K] };

type Rule = (value: unknown, draft: ServerDraft, read: FieldReader, path: readonly string[]) => void;

/** What applications call the transports. */
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
  // Some write a star for all of them.
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

/** What is written like a variable, and unlike a token: capitals, and short or with underscores. */
const CERTAINLY_A_NAME = /^(?:[A-Z][A-Z0-9]{0,11}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]{1,16})+)$/;

/** Adds headers beside those that are there; those win. */
function addHeaders(draft: ServerDraft, headers: Readonly<Record<string, string>>): void {
  draft.headers = { ...headers, ...draft.headers };
}

/** A header whose value is a variable: filled in, or kept as a reference. */
function fromVariable(name: unknown, read: FieldReader, path: readonly string[]): string | undefined {
  if (typeof name !== "string" || !/^[A-Za-z_]\w{0,254}$/.test(name)) {
    return read.problem(path, "error", "the value must be the name of a variable", "Write the name, not the value.");
  }
  if (!read.fills) return `\${${name}}`;
  const value = read.expander.variable(name);
  if (value !== undefined) return value;
  // People paste the token in place of its variable, and that must not be shown.
  const shown = CERTAINLY_A_NAME.test(name) ? `the variable ${name}` : "the variable that is named here";
  return read.problem(
    path,
    "error",
    `${shown} is not set`,
    "Set the variable; the field holds its name, not its value.",
  );
}

/** Fields of other applications, with what they are here. */
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
      return read.problem(path, "warning", "files of variables are left out here", "Write the variables into `env`.");
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
    const headers = read.textMap(value, path, (name, at) => fromVariable(name, read, at));
    if (headers !== undefined) addHeaders(draft, headers);
  },
  bearer_token_env_var(value, draft, read, path) {
    const token = (name: unknown) => fromVariable(name, read, path);
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
    read.problem(path, "warning", "programs that print headers are never started", "Write the headers into `headers`.");
  },
};

/** Fields of ours that other applications fill differently. */
const SHARED_NAMES: Readonly<Record<string, { readonly when: (value: unknown) => boolean; readonly rule: Rule }>> = {
  trust: {
    when: (value) => typeof value === "boolean",
    rule(value, draft) {
      draft.trust = value === true ? "trusted" : "untrusted";
    },
  },
  tools: { when: (value) => Array.isArray(value), rule: allow },
};

/** Fields of other applications that mean nothing here. */
const IGNORED = new Set(
  (
    "name description icon icons note notes version gallery metadata dev sandbox sandboxEnabled oauth auth authProviderType " +
    "targetAudience targetServiceAccount extension extensionName tcp alwaysLoad alwaysAllow autoApprove scopes oauth_resource " +
    "bearer_token supports_parallel_tool_calls default_tools_approval_mode experimental_environment environment_id"
  ).split(" "),
);

/** The rule for a field, if another application defines it: `ignore` for those that mean nothing here. */
export function foreignRule(name: string, value: unknown, dialect: ConfigDialect): Rule | "ignore" | undefined {
  // Approvals of single tools; ours names tools to offer.
  if (dialect === "codex" && name === "tools") return "ignore";
  const shared = Object.hasOwn(SHARED_NAMES, name) ? SHARED_NAMES[name] : undefined;
  if (shared?.when(value) === true) return shared.rule;
  if (Object.hasOwn(RULES, name)) return RULES[name];
  return IGNORED.has(name) ? "ignore" : undefined;
}

/** The names of all fields that other applications define. */
export const FOREIGN_NAMES: readonly string[] = [...Object.keys(RULES), ...IGNORED];
