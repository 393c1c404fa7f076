import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { isSecretName } from "@parley/mcp/recording";
import type { ServerTarget } from "./target.js";

/** Minimum length of a redacted value. Shorter values are often plain words such as `true` or `prod`. */
const MIN_VALUE_LENGTH = 8;
/** Minimum length of a redacted value that was passed as a header, or as a variable with the name of a secret. */
const MIN_SECRET_LENGTH = 4;
/** Common settings, for example the value of a variable named `USE_TOKEN`. They are not secrets. */
const SETTING = /^(?:true|false|none|null|undefined|auto|always|never|default|enabled|disabled|required|optional)$/i;

/**
 * Values to redact for a target: its headers, its environment variables, and variables of the inherited environment
 * with the name of a secret.
 */
export function targetSecrets(
  target: ServerTarget,
  inherited: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const { env = {}, headers = {} } = target.kind === "module" ? {} : target.entry;
  const given = Object.entries(env).filter(
    ([name, value]) =>
      value.length >= (isSecretName(name, value) ? MIN_SECRET_LENGTH : MIN_VALUE_LENGTH) && !isSettingOrPath(value),
  );
  const ofShell = Object.entries(inherited).flatMap(([name, value]) =>
    value !== undefined && value.length >= MIN_VALUE_LENGTH && isSecretName(name, value) && !isSettingOrPath(value)
      ? [value]
      : [],
  );
  const ofHeaders = Object.entries(headers)
    .flatMap(credentialsOf)
    .filter((value) => value.length >= MIN_SECRET_LENGTH);
  return [...given.map(([, value]) => value), ...ofHeaders, ...ofShell];
}

/**
 * Returns the values of a header to redact: for a header with the name of a secret, the value with and without its
 * scheme, such as `Bearer`.
 */
function credentialsOf([name, value]: readonly [string, string]): string[] {
  const [, ...rest] = value.split(" ");
  return isSecretName(name) ? [value, ...rest] : [value];
}

/** True for a plain setting, and for an existing path such as the value of `GOOGLE_APPLICATION_CREDENTIALS`. */
function isSettingOrPath(value: string): boolean {
  return SETTING.test(value) || (isAbsolute(value) && existsSync(value));
}
