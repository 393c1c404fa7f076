import { isThenable, neverUnhandled, whenReady } from "../../encoding/maybe-promise.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { VisibilityCaller, VisibleTo } from "../../server/contract/offer-options.js";
import { type ReadReturn, resource } from "../../server/contract/resource.js";
import type { ToolOffer, ToolUi } from "../../server/contract/tool.js";
import { type DefinedExtension, defineExtension } from "../seam/define-extension.js";
import type { ExtendedServer, ExtensionCall, ServedExtension } from "../seam/extended-server.js";
import { type AppPages, appPages } from "./app-pages.js";
import { APPS_ID, checkToolUi, PAGE_TYPE, pageUiMeta, toolUiMeta } from "./ui-meta.js";

/** The page of one tool. */
interface ToolPage {
  readonly tool: ToolOffer;
  readonly ui: ToolUi;
}

/**
 * One page: the tools that provide it, by name, and the settings of its resource. If `restricted` is true, only callers
 * that see one of the tools see the resource.
 */
interface ServedPage {
  readonly tools: Map<string, ToolPage>;
  offered: { readonly restricted: boolean; readonly scopes: string } | undefined;
}

/** The pages that a server's tools provide. Each page is a resource for as long as one of its tools is offered. */
class ServedPages {
  readonly #server: ExtendedServer;
  readonly #pages = new Map<string, ServedPage>();
  /** The URI of the page that a tool provides, by tool name. */
  readonly #uris = new Map<string, string>();

  constructor(server: ExtendedServer) {
    this.#server = server;
  }

  /** Throws `invalid_definition` if the page of a tool cannot be offered. */
  check(tool: ToolOffer, ui: ToolUi): void {
    const page = this.#pages.get(ui.uri);
    const others = [...(page?.tools.values() ?? [])].filter((other) => other.tool.name !== tool.name);
    for (const other of others) {
      const what = differenceOf(other, { tool, ui });
      if (what === undefined) continue;
      throw new McpError(
        "invalid_definition",
        `the tools "${other.tool.name}" and "${tool.name}" provide different ${what} for ${ui.uri}`,
        { fix: "Pass the page to one of them, and only its URI to the other." },
      );
    }
    if (page !== undefined) return;
    const owner = this.#server.ownerOf(ui.uri);
    if (owner === undefined || owner === "resourceTemplate") return;
    const why =
      owner === "resource"
        ? "a resource with this URI exists already"
        : "the resources of this server come from its handler object";
    throw new McpError("invalid_definition", `the page ${ui.uri} of tool "${tool.name}" cannot be offered: ${why}`, {
      fix: "Pass only the URI in `ui` of the tool, or choose another URI.",
    });
  }

  /** Replaces the page that a tool provided with the page that it provides now, if any. */
  change(name: string, tool: ToolOffer | undefined, ui: ToolUi | undefined): void {
    const before = this.#uris.get(name);
    const old = before === undefined || before === ui?.uri ? undefined : this.#pages.get(before);
    if (before !== undefined && old?.tools.delete(name) === true) this.#offer(before, old);
    this.#uris.delete(name);
    if (tool === undefined || ui === undefined) return;
    this.#uris.set(name, ui.uri);
    const page = this.#pages.get(ui.uri) ?? { tools: new Map(), offered: undefined };
    this.#pages.set(ui.uri, page);
    page.tools.set(name, { tool, ui });
    this.#offer(ui.uri, page);
  }

  /** Offers the page with the settings of its tools, or withdraws it if no tool is left. */
  #offer(uri: string, page: ServedPage): void {
    const tools = [...page.tools.values()].map(({ tool }) => tool);
    const [first] = tools;
    const restricted = tools.every(({ definition }) => definition.visibleTo !== undefined);
    const scopes = first === undefined ? "" : scopesOf(first);
    if (first !== undefined && page.offered?.restricted === restricted && page.offered.scopes === scopes) return;
    if (page.offered !== undefined) this.#server.withdraw("resource", uri);
    page.offered = undefined;
    if (first === undefined) {
      this.#pages.delete(uri);
      return;
    }
    const listed = { name: uri.slice("ui://".length), mimeType: PAGE_TYPE, scopes: first.definition.scopes };
    // A caller that sees none of the tools must not see the page. If one of the tools is visible to all callers, so is
    // the page.
    const visibleTo = restricted ? (caller: VisibilityCaller) => isSeen(page, caller) : undefined;
    this.#server.offer(resource(uri, { ...listed, visibleTo }, () => readPage(uri, page)));
    page.offered = { restricted, scopes };
  }
}

/** The difference between two pages with the same URI. Undefined if they are equal. */
function differenceOf(one: ToolPage, other: ToolPage): "pages" | "scopes" | undefined {
  const isSame =
    one.ui.html === other.ui.html && JSON.stringify(pageUiMeta(one.ui)) === JSON.stringify(pageUiMeta(other.ui));
  if (!isSame) return "pages";
  return scopesOf(one.tool) === scopesOf(other.tool) ? undefined : "scopes";
}

function scopesOf({ definition }: ToolOffer): string {
  return JSON.stringify([...(definition.scopes ?? [])].sort());
}

/**
 * True if a caller sees one of the page's tools. If the caller sees none, rethrows the error of the last `visibleTo`
 * that failed.
 */
function isSeen({ tools }: ServedPage, caller: VisibilityCaller): boolean {
  let failure: { readonly error: unknown } | undefined;
  for (const { tool } of tools.values()) {
    try {
      if (allows(tool.definition.visibleTo, caller)) return true;
    } catch (error) {
      failure = { error };
    }
  }
  if (failure !== undefined) throw failure.error;
  return false;
}

function allows(visibleTo: VisibleTo | undefined, caller: VisibilityCaller): boolean {
  const visible: unknown = visibleTo === undefined ? true : visibleTo(caller);
  if (!isThenable(visible)) return visible === true;
  neverUnhandled(Promise.resolve(visible));
  throw new TypeError("it returned a promise");
}

async function readPage(uri: string, { tools }: ServedPage): Promise<ReadReturn> {
  const [first] = tools.values();
  if (first === undefined) throw new McpError("resource_not_found", `resource not found: ${uri}`);
  const { ui } = first;
  const text: unknown = typeof ui.html === "function" ? await ui.html() : ui.html;
  if (typeof text !== "string" || text.trim() === "") {
    throw new McpError("misuse", `\`html\` of ${uri} did not return a page`, { fix: "Return the HTML as a string." });
  }
  const meta = pageUiMeta(ui);
  return { text, mimeType: PAGE_TYPE, ...(meta === undefined ? {} : { _meta: { ui: meta } }) };
}

/** The server's side of `apps()`: the pages of one server's tools. */
function servedApps(server: ExtendedServer): ServedExtension {
  const pages = new ServedPages(server);
  /**
   * URIs of pages that tools refer to without providing them, by tool name. The next `tools/list` checks and removes
   * them.
   */
  const named = new Map<string, string>();
  return {
    toolOptions: {
      ui(tool, wire) {
        const ui = uiOf(tool);
        if (ui === undefined) return {};
        if (ui.html !== undefined) pages.check(tool, ui);
        return withUi(wire, ui);
      },
    },
    toolChanged(name, tool) {
      const ui = tool === undefined ? undefined : uiOf(tool);
      named.delete(name);
      if (ui !== undefined && ui.html === undefined) named.set(name, ui.uri);
      pages.change(name, tool, ui?.html === undefined ? undefined : ui);
    },
    around: {
      "tools/list"(call, next) {
        warnOfMissingPages(server, named, call);
        return next();
      },
    },
  };
}

function uiOf({ name, definition }: ToolOffer): ToolUi | undefined {
  return definition.ui === undefined ? undefined : checkToolUi(name, definition.ui);
}

function withUi(wire: Tool, ui: ToolUi): Partial<Tool> {
  return { _meta: { ...wire._meta, ui: toolUiMeta(ui) } };
}

/**
 * Warns of pages that tools refer to but that do not exist. Called with `tools/list`, because a page may be registered
 * after the tool that refers to it.
 */
function warnOfMissingPages(server: ExtendedServer, named: Map<string, string>, call: ExtensionCall): void {
  const byPage = new Map([...named].map(([tool, uri]) => [uri, tool]));
  named.clear();
  for (const [uri, tool] of byPage) {
    // Skip a page that exists, even if this caller cannot see it.
    if (server.ownerOf(uri) !== undefined) continue;
    void whenReady(server.find("resources", uri, call), (found) => {
      if (found !== undefined) return;
      server.platform.warn(`the tool "${tool}" refers to the page ${uri}, which does not exist on this server`);
    });
  }
}

/** Options of `apps`. */
export interface AppsOptions {
  /** The largest page that the client accepts, in bytes. Default: 8 MiB, enough for a page with embedded images. */
  maxPageBytes?: number | undefined;
}

const DEFAULT_MAX_PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Creates the MCP Apps extension: tools with a page that hosts show beside their results.
 *
 * In `extensions` of a server, it enables the option `ui` of tools. In `extensions` of `connect`, it declares to
 * servers that this client shows pages, and `client.extension` returns `AppPages`.
 *
 * Spec: MCP Apps, https://modelcontextprotocol.io/extensions/apps/overview
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/apps.md | Apps}
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
