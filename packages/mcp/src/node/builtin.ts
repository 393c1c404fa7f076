import { McpError } from "../protocol/error.js";

/** The `process.versions` object that passed the check, so that it is checked only once. */
let accepted: Versions | undefined;

type Versions = Readonly<Record<string, string | undefined>>;

/**
 * Returns a built-in module of Node. An `import` would read all exports, which on Node 22 and later makes `node:http`
 * load a whole HTTP client: over 20 ms at the start of every program. This function loads only the parts that are used.
 *
 * Throws an `McpError` that names the required version if the runtime has no such modules or is too old.
 */
export const builtin: typeof process.getBuiltinModule = (id: string) => {
  const { process: own } = globalThis as { process?: Partial<NodeJS.Process> };
  if (typeof own?.getBuiltinModule !== "function") throw noBuiltins(own?.versions?.node);
  if (own.versions !== accepted) {
    if (isTooOld(own.versions)) throw noBuiltins(own.versions?.node);
    accepted = own.versions;
  }
  // Safe: the declared type of `builtin` derives the type of the result from the name.
  return own.getBuiltinModule(id) as never;
};

/**
 * True for Node below 20.19. Node 20.16 and later have `getBuiltinModule`, but would fail later with a less clear
 * error. Bun and Deno also report a Node version, but only to state compatibility, so it is not checked.
 */
function isTooOld(versions: Versions | undefined): boolean {
  if (versions?.["node"] === undefined || versions["bun"] !== undefined || versions["deno"] !== undefined) return false;
  const [major = 0, minor = 0] = versions["node"].split(".").map(Number);
  return major < 20 || (major === 20 && minor < 19);
}

function noBuiltins(version: string | undefined): McpError {
  const here = version === undefined ? "a runtime without Node's modules" : `Node ${version}`;
  const fix =
    version === undefined
      ? "import `@parley/mcp` instead of `@parley/mcp/node`: it runs here too"
      : "install a newer Node";
  return new McpError("unsupported", `Node 20.19 or later, Bun or Deno is required, but this is ${here}: ${fix}.`, {
    fix: `${fix.charAt(0).toUpperCase()}${fix.slice(1)}.`,
  });
}
