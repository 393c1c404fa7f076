import type { Tool } from "../../protocol/features/tools.js";
import type { ToolOffer, ToolUi } from "../../server/tools/tool.js";
import type { ExtendedServer, ExtensionCall, ServedExtension } from "../seam/extended-server.js";
import { ServedPages } from "./served-pages.js";
import { checkToolUi, toolUiMeta } from "./ui-meta.js";

/** The pages of the tools of one server. */
export function servedApps(server: ExtendedServer): ServedExtension {
  const pages = new ServedPages(server);
  /** By tool: the page that it names without bringing it, until it is known whether the server has it. */
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

/** At the first list, because a page may be registered after the tool that names it. */
function warnOfMissingPages(server: ExtendedServer, named: Map<string, string>, call: ExtensionCall): void {
  const byPage = new Map([...named].map(([tool, uri]) => [uri, tool]));
  named.clear();
  for (const [uri, tool] of byPage) {
    // A page that this caller does not see is there for others.
    if (server.ownerOf(uri) === undefined && !server.hasResource(uri, call)) {
      server.platform.warn(`the tool "${tool}" names the page ${uri}, which this server does not have`);
    }
  }
}
