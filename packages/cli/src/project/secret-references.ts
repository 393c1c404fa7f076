import type { ConfigDialect, HostServer } from "@parley/mcp/host";
import { isSecretName, looksSecret } from "@parley/mcp/recording";

/** An entry that refers to its secrets, and the variables that must be set. */
export interface ReferringEntry {
  readonly entry: HostServer;
  /** Names of variables that the application fills in. */
  readonly variables: readonly string[];
}

/** Puts references in the place of values that are secrets. */
export function referToSecrets(name: string, entry: HostServer, dialect: ConfigDialect): ReferringEntry {
  const { env = {}, headers = {} } = entry;
  const variables: string[] = [];
  const own = secretsOf(env);
  const referring = mapped(headers, (header, value) => {
    const [, scheme = "", secret = ""] = /^((?:Bearer|Basic) )?(.*)$/s.exec(value) ?? [];
    const variable = `${name.toUpperCase().replace(/[^A-Z0-9]+/g, "_")}_${variableOf(header)}`.replace(/^(?=\d)/, "_");
    if (secret === "" || !isSecret(header, value)) return value;
    variables.push(variable);
    return `${scheme}\${${variable}}`;
  });
  variables.unshift(...own);
  // Codex has no references for variables; it passes those on that are named.
  const codex = dialect === "codex";
  const left = codex ? Object.entries(env).filter(([variable]) => !own.includes(variable)) : [];
  const filled = codex
    ? Object.fromEntries(left)
    : mapped(env, (variable, value) => (own.includes(variable) ? `\${${variable}}` : value));
  return {
    variables,
    entry: {
      ...entry,
      ...(entry.env === undefined ? {} : { env: filled }),
      ...(entry.headers === undefined ? {} : { headers: referring }),
      ...(codex && own.length > 0 ? { inheritEnv: own } : {}),
    },
  };
}

/** The names of the variables and headers whose values are secrets. */
export function secretNames({ env = {}, headers = {} }: HostServer): string[] {
  return [...secretsOf(env), ...secretsOf(headers)];
}

function secretsOf(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (isSecret(name, value) ? [name] : []));
}

/** What refers to a variable already is none. */
function isSecret(name: string, value: string): boolean {
  return !value.includes("${") && value !== "" && (isSecretName(name, value) || looksSecret(value));
}

function variableOf(header: string): string {
  return /^authorization$/i.test(header) ? "TOKEN" : header.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
}

function mapped(
  values: Readonly<Record<string, string>>,
  change: (name: string, value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(name, value)]));
}
