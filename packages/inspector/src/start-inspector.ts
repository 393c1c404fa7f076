import { fileURLToPath } from "node:url";
import type { Inspector, InspectorOptions } from "./inspector-options.js";
import { openInspector } from "./open-inspector.js";

/**
 * Starts an inspector on this machine and connects to its targets. Resolves as soon as the page is served. Rejects with
 * an `McpError` if the port is taken, the page is missing, or there are too many targets.
 *
 * @example
 * ```ts
 * import { startInspector } from "@parley/inspector";
 *
 * const inspector = await startInspector();
 * ```
 */
export function startInspector(options: InspectorOptions = {}): Promise<Inspector> {
  return openInspector(options, fileURLToPath(new URL("./page/", import.meta.url)));
}
