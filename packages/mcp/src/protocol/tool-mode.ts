import { McpError } from "./error.js";

/**
 * What a tool needs of a session: a `stateless` one keeps nothing between calls and asks the client for nothing, so that any
 * process can serve any of its calls.
 */
export type ToolMode = "stateless" | "stateful";

/** The key in a listed tool's `_meta` that names its mode. */
export const TOOL_MODE = "dev.parley/mode";

type Meta = Record<string, unknown>;

interface Listed {
  readonly _meta?: Readonly<Meta> | undefined;
  readonly mode?: unknown;
}

/** The mode of a listed tool; `stateful` by default. Like everything in a server's list, it is unverified. */
export function toolMode({ _meta, mode }: Listed): ToolMode {
  // Some servers use the bare name, in `_meta` or as a member of the tool.
  return (_meta?.[TOOL_MODE] ?? _meta?.["mode"] ?? mode) === "stateless" ? "stateless" : "stateful";
}

/** Whether a listed tool needs no session. */
export function isSessionless(tool: Listed): boolean {
  return toolMode(tool) === "stateless";
}

/** The `_meta` of a tool with its mode, which is told only where it is not the usual one. Throws for a mode that does not exist. */
export function metaWithMode(tool: string, mode: ToolMode | undefined, meta: Meta | undefined): Meta | undefined {
  if (mode === undefined || mode === "stateful") return meta;
  if (mode === "stateless") return { ...meta, [TOOL_MODE]: mode };
  throw new McpError("invalid_definition", `\`mode\` of tool "${tool}" is ${JSON.stringify(mode)}`, {
    fix: 'Write `"stateless"` or `"stateful"`.',
  });
}
