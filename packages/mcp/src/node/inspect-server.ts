import type { Inspect } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";

/** Opens the inspector of the optional package `@parley/inspector` on a server. */
export const inspectServer: Inspect = async (server, options = {}) => {
  if (process.env["NODE_ENV"] === "production") {
    const fix = "Call `server.inspect` only in development.";
    const why = "whoever has its address can use everything that the server offers";
    throw new McpError("misuse", `the inspector does not open where NODE_ENV is "production": ${why}`, { fix });
  }
  const { inspect } = await loadInspector("@parley/inspector");
  return inspect(server, options);
};

/** The name is an argument, so that no bundler follows it: one would pack a tool of development into a server, or demand it. */
async function loadInspector(name: string): Promise<{ inspect: Inspect }> {
  try {
    // Typed here, because that package is built with this one.
    return (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as { inspect: Inspect };
  } catch (cause) {
    const fix = `Run \`npm install --save-dev ${name}\`; it is an optional peer dependency.`;
    throw new McpError("unsupported", `the package \`${name}\` is required to inspect a server`, { cause, fix });
  }
}
