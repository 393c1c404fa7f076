import { isObject } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type {
  UiPermission,
  UiPermissions,
  UiResourceMeta,
  UiToolMeta,
  UiVisibility,
} from "../../protocol/features/apps.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { ToolUi } from "../../server/contract/tool.js";
import { CSP_LISTS, checkCsp } from "./content-policy.js";

/** The id of the MCP Apps extension. */
export const APPS_ID = "io.modelcontextprotocol/ui";
/** The MIME type of pages. */
export const PAGE_TYPE = "text/html;profile=mcp-app";

export const PERMISSIONS: readonly UiPermission[] = ["camera", "microphone", "geolocation", "clipboardWrite"];
const VISIBILITIES: readonly unknown[] = ["model", "app"];

/** Maximum length of a page's URI, in characters. */
const MAX_URI_LENGTH = 2048;
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** True if a value is the URI of a page. */
function isPageUri(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_URI_LENGTH && /^ui:\/\/[^\s"'<>\\]+$/.test(value);
}

/** True if a value is a host name. */
export function isHostName(value: unknown): value is string {
  return typeof value === "string" && value.length <= 253 && HOST_NAME.test(value);
}

/** Normalizes the option `ui` of a tool. Throws `invalid_definition` if it is invalid. */
export function checkToolUi(tool: string, given: string | ToolUi): ToolUi {
  const ui: ToolUi = typeof given === "string" ? { uri: given } : given;
  const what = `\`ui\` of tool "${tool}"`;
  checkOptions(what, ui, "uri html visibility csp permissions domain prefersBorder");
  const wrong = (problem: string, fix: string) => new McpError("invalid_definition", `${problem} in ${what}`, { fix });
  const { uri, html, visibility, csp, permissions, domain, prefersBorder } = ui;
  if (!isPageUri(uri)) {
    throw wrong(
      `${JSON.stringify(uri)} is not the URI of a page`,
      "Write `ui://` and a name, such as `ui://weather/map`.",
    );
  }
  if (html !== undefined && typeof html !== "function" && (typeof html !== "string" || html.trim() === "")) {
    throw wrong("`html` is not a page", "Pass the page as text, or a function that returns it.");
  }
  if (visibility !== undefined && !isListOf(visibility, VISIBILITIES)) {
    throw wrong("`visibility` is invalid", 'List "model", "app" or both.');
  }
  checkOptions(`\`csp\` in ${what}`, csp, "connectDomains resourceDomains frameDomains baseUriDomains");
  checkCsp(`tool "${tool}"`, csp);
  if (permissions !== undefined && !(permissions.length === 0 || isListOf(permissions, PERMISSIONS))) {
    throw wrong("`permissions` is invalid", `List some of ${PERMISSIONS.join(", ")}.`);
  }
  if (domain !== undefined && !isHostName(domain))
    throw wrong("`domain` is not a host name", "Pass it without a scheme, such as `app.example.com`.");
  if (prefersBorder !== undefined && typeof prefersBorder !== "boolean") {
    throw wrong("`prefersBorder` is not a boolean", "Write true or false, or leave it out.");
  }
  return ui;
}

function isListOf(value: unknown, known: readonly unknown[]): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => known.includes(one));
}

/**
 * Returns `_meta.ui` for a tool's entry in `tools/list`.
 *
 * Spec: MCP Apps, "Resource Discovery", https://modelcontextprotocol.io/extensions/apps/overview
 */
export function toolUiMeta({ uri, visibility }: ToolUi): UiToolMeta {
  return { resourceUri: uri, ...(visibility === undefined ? {} : { visibility: [...visibility] }) };
}

/** Returns `_meta.ui` for a page's contents. Undefined if it would be empty. */
export function pageUiMeta({ csp, permissions = [], domain, prefersBorder }: ToolUi): UiResourceMeta | undefined {
  const declared = CSP_LISTS.filter((list) => (csp?.[list]?.length ?? 0) > 0);
  const meta: UiResourceMeta = {
    ...(declared.length === 0 ? {} : { csp: Object.fromEntries(declared.map((list) => [list, csp?.[list]])) }),
    ...(permissions.length === 0 ? {} : { permissions: permissionsOnWire(permissions) }),
    ...(domain === undefined ? {} : { domain }),
    ...(prefersBorder === undefined ? {} : { prefersBorder }),
  };
  return Object.keys(meta).length === 0 ? undefined : meta;
}

/** Converts permissions to the protocol's form. */
export function permissionsOnWire(permissions: readonly UiPermission[]): UiPermissions {
  return Object.fromEntries(permissions.map((name) => [name, {}]));
}

/** Reads the valid part of `_meta.ui` from a listed tool. */
export function readToolUi({ _meta: meta }: Pick<Tool, "_meta">): {
  uri: string | undefined;
  visibility: readonly UiVisibility[];
} {
  const ui = isObject(meta) && Object.hasOwn(meta, "ui") && isObject(meta["ui"]) ? meta["ui"] : {};
  // Drafts of the extension used the separate member `ui/resourceUri`.
  const uri = ui["resourceUri"] ?? meta?.["ui/resourceUri"];
  return { uri: isPageUri(uri) ? uri : undefined, visibility: readVisibility(ui["visibility"]) };
}

/**
 * Reads the visibility of a tool. Drops unknown entries. A value that is not a list hides the tool from models and
 * apps.
 */
function readVisibility(value: unknown): readonly UiVisibility[] {
  if (value === undefined) return ["model", "app"];
  return Array.isArray(value) ? value.filter((one): one is UiVisibility => VISIBILITIES.includes(one)) : [];
}

/**
 * Returns true if the client of a call shows pages. Otherwise the tool should put all information in the result's
 * content.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/apps.md | Apps}
 */
export function showsApps({ client }: { readonly client: { readonly capabilities: ClientCapabilities } }): boolean {
  const settings: unknown = client.capabilities.extensions?.[APPS_ID];
  const types = isObject(settings) ? settings["mimeTypes"] : undefined;
  return Array.isArray(types) && types.includes(PAGE_TYPE);
}
