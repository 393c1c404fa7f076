import { createHash } from "node:crypto";

/**
 * Identifiers that a generated function must not have: reserved words, names that the generated code or CommonJS uses,
 * and `then`, which would make `await import()` treat the module as a promise.
 */
const RESERVED = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false " +
    "finally for function if implements import in instanceof interface let new null package private protected public return " +
    "static super switch this throw true try typeof undefined var void while with yield " +
    "encodeURIComponent expanded exports globalThis invoke require then"
  ).split(" "),
);

/** Names of types that a generated module imports, declares or uses from the standard library. */
const OWN_TYPES = [
  "AnyClient",
  "CallOptions",
  "Client",
  "ClientOf",
  "GetPromptResult",
  "Promise",
  "Prompts",
  "ReadResourceResult",
  "Record",
  "RemoteClient",
  "RemoteServer",
  "Server",
  "String",
  "Tools",
];

/** Maximum length of an identifier without its suffix. Longer names are cut. */
const MAX_NAME_LENGTH = 80;

/**
 * Assigns unique identifiers within one module. An identifier depends only on the server's names. If several names map
 * to the same identifier, the name that equals the identifier gets it, and the other names get a digest as suffix.
 */
export class ModuleNames {
  readonly #used = new Set<string>([...RESERVED, ...OWN_TYPES]);

  /** Assigns function names, keyed by the server's names. `ending` distinguishes prompts and resources from tools. */
  functions(names: readonly string[], ending = ""): Map<string, string> {
    const wanted = new Map(names.map((name) => [name, lowerFirst(words(name)) + ending]));
    const uses = new Map<string, number>();
    for (const identifier of wanted.values()) uses.set(identifier, (uses.get(identifier) ?? 0) + 1);
    const plainFirst = [...names].sort((a, b) => Number(wanted.get(b) === b) - Number(wanted.get(a) === a));
    return new Map(
      plainFirst.map((name) => {
        const identifier = wanted.get(name) ?? "";
        const alone = uses.get(identifier) === 1 || identifier === name;
        return [name, this.reserve(alone ? identifier : withDigest(identifier, name), name)];
      }),
    );
  }

  /**
   * Reserves and returns an identifier. If the identifier is a reserved word or in use, reserves a variant of it, which
   * may contain a digest of `source`.
   */
  reserve(identifier: string, source: string): string {
    const tries = [RESERVED.has(identifier) ? `${identifier}_` : identifier, withDigest(identifier, source)];
    let name = tries.find((one) => !this.#used.has(one));
    for (let at = 2; name === undefined; at++) {
      const next = `${withDigest(identifier, source)}_${at}`;
      if (!this.#used.has(next)) name = next;
    }
    this.#used.add(name);
    return name;
  }
}

/** Converts a name to a type name: `create_issue` and `createIssue` become `CreateIssue`. */
export function typeName(name: string): string {
  const joined = words(name);
  return joined.charAt(0).toUpperCase() + joined.slice(1);
}

/** Joins the letters and digits of a name in camel case, keeping the case of the first letter. */
function words(name: string): string {
  const [first = "", ...rest] = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const joined = [first, ...rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1))]
    .join("")
    .slice(0, MAX_NAME_LENGTH);
  // A name without Latin letters or digits is identified by its digest.
  if (joined === "") return `unnamed${shortDigest(name)}`;
  return /^\d/.test(joined) ? `_${joined}` : joined;
}

/** Converts the leading capitals to lower case: `URLFetch` becomes `urlFetch`, and `GetX` becomes `getX`. */
function lowerFirst(name: string): string {
  return name.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+(?=\d|$)|^[A-Z]/, (head) => head.toLowerCase());
}

function withDigest(identifier: string, source: string): string {
  return `${identifier}_${shortDigest(source)}`;
}

function shortDigest(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 8);
}
