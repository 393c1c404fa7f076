import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { type DefinedExtension, defineExtension } from "../seam/define-extension.js";
import { type AppPages, appPages } from "./app-pages.js";
import { servedApps } from "./served-apps.js";
import { APPS_ID, PAGE_TYPE } from "./ui-meta.js";

/** Options of `apps`. */
export interface AppsOptions {
  /** Bytes that a page may have; a client refuses a larger one. Default: 8 MiB, room for one with its images built in. */
  maxPageBytes?: number | undefined;
}

const DEFAULT_MAX_PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Makes the extension MCP Apps: tools with a page that hosts show beside their results.
 *
 * In `extensions` of a server it allows the option `ui` of tools. In `extensions` of `connect` it tells servers that this
 * client shows pages, and `client.extension` gives `AppPages`.
 *
 * Spec: MCP Apps, https://modelcontextprotocol.io/extensions/apps/overview
 */
export function apps(options: AppsOptions = {}): DefinedExtension<AppPages> {
  checkOptions("apps", options, "maxPageBytes");
  const { maxPageBytes = DEFAULT_MAX_PAGE_BYTES } = options;
  if (!Number.isSafeInteger(maxPageBytes) || maxPageBytes <= 0) {
    throw new McpError("invalid_definition", `\`maxPageBytes\` of apps is ${maxPageBytes}`, {
      fix: "Pass a whole number of bytes above 0.",
    });
  }
  return defineExtension<AppPages>({
    id: APPS_ID,
    settings: { mimeTypes: [PAGE_TYPE] },
    server: servedApps,
    client: (client) => ({ feature: appPages(client, maxPageBytes) }),
  });
}
