import type { ExtendedClient } from "../../client/contract/extension.js";
import type { CallOptions } from "../../client/contract/options.js";
import { fromBase64 } from "../../encoding/base64.js";
import { utf8Bytes } from "../../encoding/json-bytes.js";
import { isObject } from "../../jsonrpc/message.js";
import { checkReadResourceResult } from "../../protocol/checks/results.js";
import { McpError } from "../../protocol/error.js";
import type { UiCsp, UiPermission } from "../../protocol/features/apps.js";
import type { ResourceContents } from "../../protocol/features/content.js";
import type { Tool } from "../../protocol/features/tools.js";
import { readCsp } from "./content-policy.js";
import { isHostName, PAGE_TYPE, PERMISSIONS, readToolUi } from "./ui-meta.js";

/** An app page of a server, read and checked. */
export interface AppPage {
  /** The page's URI, `ui://…`. */
  readonly uri: string;
  /** The HTML of the page. */
  readonly html: string;
  /** The domains that the page asks for. A host may remove some before it shows the page. */
  readonly csp: UiCsp;
  /** The browser features that the page asks for. */
  readonly permissions: readonly UiPermission[];
  /**
   * The host name that the server asks for, in a form that the host documents. Undefined if the server has no
   * preference.
   */
  readonly domain: string | undefined;
  /** True if the page asks for a border, false if it asks for none. Undefined if the host decides. */
  readonly prefersBorder: boolean | undefined;
}

/** The client's side of `apps()`, as returned by `client.extension`. */
export interface AppPages {
  /**
   * Reads the page of a tool. Resolves with undefined if the tool has none. Rejects with `invalid_response` if the
   * server's answer is not a page, and with `limit_exceeded` if the page is larger than `maxPageBytes`. Drops invalid
   * domains with a warning, and ignores unknown permissions.
   */
  pageOf(tool: Tool, options?: CallOptions): Promise<AppPage | undefined>;
  /** Returns the tools that a model may see and call. */
  toolsForModel(tools: readonly Tool[]): Tool[];
  /** True if the server's pages may call the tool. */
  mayBeCalledByApp(tool: Tool): boolean;
}

/** Creates the `AppPages` of one client. */
export function appPages(client: ExtendedClient, maxPageBytes: number): AppPages {
  return {
    async pageOf(tool, options) {
      const { uri } = readToolUi(tool);
      if (uri === undefined) return undefined;
      const { result } = checkReadResourceResult(await client.request("resources/read", { uri }, options));
      const contents = result?.contents.find((one) => one.uri === uri);
      if (contents === undefined) throw noPage(uri, "the server did not return this resource");
      return readPage(contents, maxPageBytes, (what) => client.warn(`the page ${uri}: ignored ${what}`));
    },
    toolsForModel: (tools) => tools.filter((tool) => readToolUi(tool).visibility.includes("model")),
    mayBeCalledByApp,
  };
}

/** True if the pages of the tool's server may call the tool. */
export function mayBeCalledByApp(tool: Tool): boolean {
  return readToolUi(tool).visibility.includes("app");
}

function readPage(contents: ResourceContents, maxPageBytes: number, drop: (what: string) => void): AppPage {
  const { uri, mimeType = "" } = contents;
  if (mimeType.toLowerCase().replace(/\s/g, "") !== PAGE_TYPE) {
    throw noPage(uri, `its type is ${JSON.stringify(mimeType.slice(0, 80))}, not ${PAGE_TYPE}`);
  }
  const html = htmlOf(contents, maxPageBytes);
  const meta = contents._meta?.["ui"];
  const ui = isObject(meta) ? meta : {};
  const { domain, prefersBorder } = ui;
  if (domain !== undefined && !isHostName(domain)) drop("`domain`, which is not a host name");
  return {
    uri,
    html,
    csp: readCsp(ui["csp"], drop),
    permissions: readPermissions(ui["permissions"], drop),
    domain: isHostName(domain) ? domain : undefined,
    prefersBorder: typeof prefersBorder === "boolean" ? prefersBorder : undefined,
  };
}

function htmlOf(contents: ResourceContents, maxPageBytes: number): string {
  const { uri } = contents;
  const encoded = "text" in contents ? contents.text : contents.blob;
  // Check the length before decoding. Base64 has four characters for three bytes, and text has at most one character
  // per byte.
  const tooLarge = () =>
    new McpError("limit_exceeded", `the page ${uri} is larger than \`maxPageBytes\`, ${maxPageBytes} bytes`);
  if (encoded.length > maxPageBytes * (4 / 3) + 4) throw tooLarge();
  let html = encoded;
  if (!("text" in contents)) {
    try {
      html = new TextDecoder("utf-8", { fatal: true }).decode(fromBase64(encoded));
    } catch (cause) {
      throw noPage(uri, "its contents are not text in UTF-8", cause);
    }
  }
  if (utf8Bytes(html) > maxPageBytes) throw tooLarge();
  if (html.trim() === "") throw noPage(uri, "it is empty");
  return html;
}

function readPermissions(value: unknown, drop: (what: string) => void): UiPermission[] {
  if (value === undefined) return [];
  if (!isObject(value)) {
    drop("`permissions`, which is not an object");
    return [];
  }
  return PERMISSIONS.filter((name) => Object.hasOwn(value, name) && isObject(value[name]));
}

function noPage(uri: string, why: string, cause?: unknown): McpError {
  return new McpError("invalid_response", `${uri} is not a page: ${why}`, { cause });
}
