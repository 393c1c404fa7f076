import { createHash } from "node:crypto";

/** Words that cannot name a function of a module, or that a module must not export: `then` would make it a promise. */
const RESERVED = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false " +
    "finally for function if implements import in instanceof interface let new null package private protected public return " +
    "static super switch this throw true try typeof undefined var void while with yield " +
    "encodeURIComponent expanded exports globalThis invoke require then"
  ).split(" "),
);

/** Types that a generated module imports or declares itself, and those of the language that it uses. */
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

/** Characters of a name that stay in an identifier. */
const MAX_NAME_LENGTH = 80;

/**
 * Gives every thing of a server a name of its own in one module. Names depend on the server's names alone: where several become
 * the same, the one that is written like its identifier keeps it, and the others get digits of their own.
 */
export class ModuleNames {
  readonly #used = new Set<string>([...RESERVED, ...OWN_TYPES]);

  /** Names of functions, by names of the server; `ending` tells apart what is no tool. */
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

  /** Takes a name, or one like it if it is taken. `source` is what it stands for. */
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

/** The name of a type: `create_issue` and `createIssue` become `CreateIssue`. */
export function typeName(name: string): string {
  const joined = words(name);
  return joined.charAt(0).toUpperCase() + joined.slice(1);
}

/** The letters and digits of a name in camel case, with the case of its first letter. */
function words(name: string): string {
  const [first = "", ...rest] = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const joined = [first, ...rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1))]
    .join("")
    .slice(0, MAX_NAME_LENGTH);
  // Names without a Latin letter have nothing else to be told apart by.
  if (joined === "") return `unnamed${shortDigest(name)}`;
  return /^\d/.test(joined) ? `_${joined}` : joined;
}

/** `URLFetch` becomes `urlFetch`, and `GetX` becomes `getX`. */
function lowerFirst(name: string): string {
  return name.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+(?=\d|$)|^[A-Z]/, (head) => head.toLowerCase());
}

function withDigest(identifier: string, source: string): string {
  return `${identifier}_${shortDigest(source)}`;
}

function shortDigest(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 8);
}
