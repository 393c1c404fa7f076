import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { isSecretName } from "@parley/mcp/recording";
import type { ServerTarget } from "./target.js";

/** Shorter values of variables are words such as `true` or `prod`, which messages must keep. */
const MIN_VALUE_LENGTH = 8;
const MIN_SECRET_LENGTH = 4;
/** Settings of variables with names such as `USE_TOKEN`, which stand in many a message. */
const SETTING = /^(?:true|false|none|null|undefined|auto|always|never|default|enabled|disabled|required|optional)$/i;

/** Values that a target is given and nobody else shall see: of its headers and variables, and of secrets in the shell's environment. */
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

/** A credential is a secret with its scheme, such as `Bearer`, and without. */
function credentialsOf([name, value]: readonly [string, string]): string[] {
  const [, ...rest] = value.split(" ");
  return isSecretName(name) ? [value, ...rest] : [value];
}

/** Whether a value is a plain setting, or the path of a file or folder, such as that of `GOOGLE_APPLICATION_CREDENTIALS`. */
function isSettingOrPath(value: string): boolean {
  return SETTING.test(value) || (isAbsolute(value) && existsSync(value));
}
