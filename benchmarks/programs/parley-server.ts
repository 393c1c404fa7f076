import { Server, type ServerOptions } from "@parley/mcp";

/** Arguments of the tool that adds, as plain JSON Schema: no schema library is part of what is measured. */
export const NUMBERS = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
} as const;

/** A server with the tool that adds, and as many more as are asked for. */
export function parleyServer(tools = 1, options: ServerOptions = {}) {
  const server = new Server({ name: "bench", version: "1.0.0" }, options).tool(
    "add",
    { description: "Adds two numbers", input: NUMBERS },
    ({ a, b }) => String(a + b),
  );
  for (let at = 1; at < tools; at++) {
    server.tool(`tool-${at}`, { description: `Tool number ${at}`, input: NUMBERS }, ({ a, b }) => String(a - b));
  }
  return server;
}

/** The same tool, which reports progress before it answers. */
export function parleySteps() {
  return new Server({ name: "bench", version: "1.0.0" }).tool(
    "add",
    { description: "Adds two numbers", input: NUMBERS },
    ({ a, b }, ctx) => {
      ctx.progress(1, { total: 2 });
      return String(a + b);
    },
  );
}
