import { McpError } from "../protocol/error.js";

/**
 * A module of Node itself. An `import` of one reads all of its exports, which on Node 22 and later makes `node:http` load a
 * whole HTTP client: over 20 ms at the start of every program. This loads only what is used.
 *
 * Throws an `McpError` that says what is needed where the runtime has no such modules, or is too old to give them out.
 */
export const builtin: typeof process.getBuiltinModule = (id: string) => {
  const { process: own } = globalThis as { process?: Partial<NodeJS.Process> };
  if (typeof own?.getBuiltinModule !== "function") throw noBuiltins(own?.versions?.node);
  // The caller's type follows from the name that it gave, by the type of this constant.
  return own.getBuiltinModule(id) as never;
};

function noBuiltins(version: string | undefined): McpError {
  const here = version === undefined ? "a runtime without Node's modules" : `Node ${version}`;
  const fix =
    version === undefined
      ? "import `@parley/mcp` instead of `@parley/mcp/node`: it runs here too"
      : "install a newer Node";
  return new McpError("unsupported", `Node 20.19 or later, Bun or Deno is needed, and this is ${here}: ${fix}.`, {
    fix: `${fix.charAt(0).toUpperCase()}${fix.slice(1)}.`,
  });
}
