import { nearestName } from "../encoding/nearest-name.js";
import { McpError } from "./error.js";

/** The words of a space-separated string, as a union. */
type Words<S extends string, Found = never> = S extends `${infer Word} ${infer Rest}`
  ? Words<Rest, Found | Word>
  : Found | S;

/** `S` if its words are exactly the names of the options in `T`; otherwise a type that lists the differences. */
type Exactly<T, S extends string> = [keyof T, Words<S>] extends [Words<S>, keyof T]
  ? S
  : { missing: Exclude<keyof T, Words<S>>; unknown: Exclude<Words<S>, keyof T> };

/** Names that other libraries use for an option, each followed by the name used here. */
const FOREIGN_NAMES =
  " inputSchema:input parameters:input schema:input outputSchema:output argsSchema:arguments readOnly:readOnlyHint " +
  "destructive:destructiveHint idempotent:idempotentHint openWorld:openWorldHint requestInit:headers " +
  "sessionIdGenerator:sessions enableDnsRebindingProtection:allowedHosts info:name clientInfo:name ";

/** Advice for options that have no counterpart here. */
const ADVICE: Readonly<Record<string, string>> = {
  capabilities: "Leave it out: capabilities are derived from registrations and handlers.",
  storage: "Pass it to `new Server`.",
  eventStore: "Pass `storage` to `new Server`.",
  mcpServers: "Read the file with `readServers` of `@parley/mcp/config`, and pass the `servers` that it returns.",
};

/**
 * Throws `invalid_definition` for an unknown option, which would otherwise be ignored without notice. `names` lists all
 * options of the type, separated by spaces. The compiler rejects an incomplete list.
 */
export function checkOptions<T extends object, const S extends string>(
  what: string,
  options: T | undefined,
  names: S & Exactly<T, S>,
): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null) {
    throw new McpError("invalid_definition", `the options of ${what} are ${options}, not an object`);
  }
  const known = ` ${names} `;
  for (const name of Object.keys(options))
    if (name.includes(" ") || !known.includes(` ${name} `)) throw unknownOption(what, name, names);
}

function unknownOption(what: string, name: string, names: string): McpError {
  const known = names.split(" ");
  const translated = FOREIGN_NAMES.split(` ${name}:`)[1]?.split(" ")[0] ?? "";
  const advised = Object.hasOwn(ADVICE, name);
  const meant = known.includes(translated) ? translated : advised ? undefined : nearestName(name, known);
  const advice = advised ? ADVICE[name] : `Leave it out, or use one of: ${known.join(", ")}.`;
  return new McpError(
    "invalid_definition",
    `"${name}" is not an option of ${what}${meant === undefined ? "" : `; did you mean "${meant}"?`}`,
    { fix: meant === undefined ? advice : `Write \`${meant}\` in place of \`${name}\`.` },
  );
}
