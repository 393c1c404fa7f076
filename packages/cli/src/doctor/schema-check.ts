import { McpError, Server } from "@parley/mcp";
import type { Tool } from "@parley/mcp/protocol";

/** What is wrong with the schemas of a tool, by the rules by which servers and clients of the library use them. */
export function schemaProblem({
  name,
  inputSchema,
  outputSchema,
}: Tool): { readonly cause: string; readonly fix: string } | undefined {
  for (const [part, schema] of [["input", inputSchema] as const, ["output", outputSchema] as const]) {
    if (schema === undefined) continue;
    try {
      new Server({ name: "t", version: "1" }).tool("t", { description: "t", [part]: schema }, () => "");
    } catch (error) {
      if (!McpError.is(error)) throw error;
      const [, why = error.message] = /^In the schema of tool "t" \w+: (.*)$/s.exec(error.message) ?? [];
      return {
        cause: `${part} of ${JSON.stringify(name)}: ${why.replace(' of tool "t"', "").replace(/\.$/, "")}`,
        fix: error.fix,
      };
    }
  }
  return undefined;
}
