import { McpError } from "./error.js";

/**
 * The session requirements of a tool. A `stateless` tool stores nothing between calls and sends no questions to the
 * client, so any process can serve any of its calls.
 */
export type ToolMode = "stateless" | "stateful";

/** The key in a listed tool's `_meta` that states its mode. */
export const TOOL_MODE = "dev.parley/mode";

type Meta = Record<string, unknown>;

interface ModeFields {
  readonly _meta?: Readonly<Meta> | undefined;
  readonly mode?: unknown;
}

/**
 * The mode of a listed tool. Default: `stateful`. Like everything in a server's list, the mode is unverified.
 *
 * @example
 * ```ts
 * import { toolMode, type Tool } from "@parley/mcp/protocol";
 *
 * function statelessTools(tools: readonly Tool[]) {
 *   return tools.filter((tool) => toolMode(tool) === "stateless");
 * }
 * ```
 */
export function toolMode({ _meta, mode }: ModeFields): ToolMode {
  // Some servers use the key `mode` without a prefix, in `_meta` or as a member of the tool.
  return (_meta?.[TOOL_MODE] ?? _meta?.["mode"] ?? mode) === "stateless" ? "stateless" : "stateful";
}

/** True if a listed tool needs no session. */
export function isSessionless(tool: ModeFields): boolean {
  return toolMode(tool) === "stateless";
}

/**
 * The `_meta` of a tool with its mode. Only `stateless` is written, because `stateful` is the default. Throws
 * `invalid_definition` for an unknown mode.
 */
export function metaWithMode(tool: string, mode: ToolMode | undefined, meta: Meta | undefined): Meta | undefined {
  if (mode === undefined || mode === "stateful") return meta;
  if (mode === "stateless") return { ...meta, [TOOL_MODE]: mode };
  throw new McpError(
    "invalid_definition",
    `\`mode\` of tool "${tool}" is ${JSON.stringify(mode)}, which is not a mode`,
    {
      fix: 'Use `"stateless"` or `"stateful"`.',
    },
  );
}
