import type { Inspect } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";

/** Opens the inspector of the optional package `@parley/inspector` on a server. */
export const inspectServer: Inspect = async (server, options = {}) => {
  if (process.env["NODE_ENV"] === "production") {
    const fix = "Call `server.inspect` only in development.";
    const why = "anyone with its address can use everything that the server offers";
    throw new McpError("misuse", `the inspector is disabled while NODE_ENV is "production": ${why}`, { fix });
  }
  const { inspect } = await loadInspector("@parley/inspector");
  return inspect(server, options);
};

/**
 * Loads the inspector. The name is an argument, so that bundlers do not resolve the import: they would bundle a
 * development tool, or fail if it is not installed.
 */
async function loadInspector(name: string): Promise<{ inspect: Inspect }> {
  try {
    // Typed here instead of imported, because the inspector package depends on this one.
    return (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as { inspect: Inspect };
  } catch (cause) {
    const fix = `Run \`npm install --save-dev ${name}\`; it is an optional peer dependency.`;
    throw new McpError("unsupported", `the package \`${name}\` is required to inspect a server`, { cause, fix });
  }
}
