import { McpError } from "../../protocol/error.js";
import type { Tool } from "../../protocol/features/tools.js";
import { type ReadReturn, resource } from "../../server/resources/resource.js";
import type { ToolOffer } from "../../server/tools/tool.js";
import type { ToolUi } from "../../server/tools/tool-ui.js";
import type { ExtendedServer, ExtensionCall, ServedExtension } from "../seam/extended-server.js";
import { checkToolUi, PAGE_TYPE, pageUiMeta, toolUiMeta } from "./ui-meta.js";

/** A page, and the tool whose definition brings it. */
interface ServedPage {
  readonly tool: string;
  readonly ui: ToolUi;
}

/** The pages of the tools of one server. */
export function servedApps(server: ExtendedServer): ServedExtension {
  const pages = new Map<string, ServedPage>();
  /** Pages that tools name without bringing them, with one of these tools, until it is known whether the server has them. */
  const named = new Map<string, string>();
  return {
    toolOptions: {
      ui(tool, wire) {
        if (tool.definition.ui === undefined) return {};
        const ui = checkToolUi(tool.name, tool.definition.ui);
        if (ui.html === undefined) named.set(ui.uri, tool.name);
        else addPage(server, pages, tool, ui);
        return withUi(wire, ui);
      },
    },
    around: {
      "tools/list"(call, next) {
        warnOfMissingPages(server, named, call);
        return next();
      },
    },
  };
}

function withUi(wire: Tool, ui: ToolUi): Partial<Tool> {
  return { _meta: { ...wire._meta, ui: toolUiMeta(ui) } };
}

function addPage(
  server: ExtendedServer,
  pages: Map<string, ServedPage>,
  { name, definition }: ToolOffer,
  ui: ToolUi,
): void {
  const before = pages.get(ui.uri);
  if (before !== undefined && before.tool !== name && !isSamePage(before.ui, ui)) {
    throw new McpError(
      "invalid_definition",
      `the tools "${before.tool}" and "${name}" bring different pages for ${ui.uri}`,
      {
        fix: "Bring the page with one of them, and write only its address in the other.",
      },
    );
  }
  if (before === undefined) {
    const { visibleTo, scopes } = definition;
    const read = () => readPage(pages.get(ui.uri)?.ui ?? ui);
    // Who may not see the tool may not see its page.
    const listed = { name: ui.uri.slice("ui://".length), mimeType: PAGE_TYPE, visibleTo, scopes };
    server.offer(resource(ui.uri, listed, read));
  }
  // A tool that is replaced brings its page anew.
  pages.set(ui.uri, { tool: name, ui });
}

function isSamePage(one: ToolUi, other: ToolUi): boolean {
  return one.html === other.html && JSON.stringify(pageUiMeta(one)) === JSON.stringify(pageUiMeta(other));
}

async function readPage(ui: ToolUi): Promise<ReadReturn> {
  const text: unknown = typeof ui.html === "function" ? await ui.html() : ui.html;
  if (typeof text !== "string" || text.trim() === "") {
    throw new McpError("misuse", `\`html\` of ${ui.uri} returned no page`, { fix: "Return the page as text." });
  }
  const meta = pageUiMeta(ui);
  return { text, mimeType: PAGE_TYPE, ...(meta === undefined ? {} : { _meta: { ui: meta } }) };
}

/** At the first list, because a page may be registered after the tool that names it. */
function warnOfMissingPages(server: ExtendedServer, named: Map<string, string>, call: ExtensionCall): void {
  for (const [uri, tool] of named) {
    if (!server.hasResource(uri, call)) {
      server.platform.warn(`the tool "${tool}" names the page ${uri}, which this server does not have`);
    }
  }
  named.clear();
}
