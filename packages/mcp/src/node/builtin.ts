import { McpError } from "../protocol/error.js";

/**
 * A built-in module of Node. An `import` reads all of its exports, which on Node 22 and later makes `node:http` load a
 * whole HTTP client: over 20 ms at the start of every program. This loads only what is used.
 *
 * Throws an `McpError` that names what is required if the runtime has no such modules or is too old.
 */
export const builtin: typeof process.getBuiltinModule = (id: string) => {
  const { process: own } = globalThis as { process?: Partial<NodeJS.Process> };
  if (typeof own?.getBuiltinModule !== "function") throw noBuiltins(own?.versions?.node);
  // Safe: the type of this constant derives the result from the name.
  return own.getBuiltinModule(id) as never;
};

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
