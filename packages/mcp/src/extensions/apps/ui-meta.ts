import type { ToolUi } from "../../server/tools/tool-ui.js";

/**
 * The `_meta.ui` of a tool's entry in the list.
 *
 * Spec: MCP Apps, "Resource Discovery", https://modelcontextprotocol.io/extensions/apps/overview
 */
export function toolUiMeta(ui: string | ToolUi): { resourceUri: string; visibility?: readonly string[] } {
  if (typeof ui === "string") return { resourceUri: ui };
  return { resourceUri: ui.uri, ...(ui.visibility === undefined ? {} : { visibility: ui.visibility }) };
}
