import { isObject } from "../../jsonrpc/message.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { OfferCapability } from "../../protocol/features/offer-kinds.js";
import type { Tool } from "../../protocol/features/tools.js";
import { LIBRARY_VERSION } from "../../protocol/implementation.js";
import type { ServerInfo, ServerOptions } from "../../server/contract/options.js";
import { Server } from "../../server/server.js";
import { partsOf } from "../../server/server-parts.js";
import type { HostCatalogue } from "../catalogue/host-catalogue.js";
import { ToolFilter, type ToolFilterOptions } from "../catalogue/tool-filter.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { RemoteOffers } from "./remote-offers.js";

/** How a host is served as one server. */
export interface GatewayOptions {
  /** The name and version that clients see. Default: those of this package. */
  info?: ServerInfo | undefined;
  /** Options of the server that clients see. */
  server?: ServerOptions | undefined;
  /**
   * What clients are shown of the tools: `all`, or three tools that `search` them, describe them and call them, so that a model
   * loads what it needs. Default: `all`.
   */
  tools?: "all" | "search" | undefined;
}

/** The servers that a gateway passes calls on to. */
export interface GatewayServers {
  find(name: string): GatewayTarget | undefined;
}

/** One server behind a gateway. */
export interface GatewayTarget {
  readonly remote: RemoteServer;
  readonly parts: { readonly filter: ToolFilterOptions };
  readonly tools: { innerCall(name: string, args: Record<string, unknown> | undefined): InnerToolCall };
  watch(uri: string, updated: () => void): () => void;
}

interface InnerToolCall {
  readonly name: string;
  readonly args: Record<string, unknown> | undefined;
}

const INFO: ServerInfo = { name: "parley-gateway", version: LIBRARY_VERSION };

/** A server that offers what the servers of a host offer. */
export function gatewayServer(
  servers: GatewayServers,
  catalogue: HostCatalogue,
  onChanged: (listener: (lists: readonly OfferCapability[]) => void) => () => void,
  options: GatewayOptions,
): Server {
  checkOptions("`asServer`", options, "info server tools");
  const { tools = "all" } = options;
  if (tools !== "all" && tools !== "search") {
    throw new McpError("invalid_definition", `\`tools\` of \`asServer\` is ${JSON.stringify(tools)}`, {
      fix: 'Pass "all" or "search".',
    });
  }
  const server = new Server(options.info ?? INFO, options.server);
  const parts = partsOf(server);
  const source = {
    catalogue,
    server: (name: string) => servers.find(name)?.remote,
    toolCall: (outer: string, args: unknown) => {
      const found = catalogue.find("tools", outer);
      const target = found && servers.find(found.server);
      if (found === undefined || target === undefined) return undefined;
      if (args !== undefined && !isObject(args)) {
        throw new McpError("invalid_params", "`params.arguments` of tools/call must be an object");
      }
      const { name, args: inner } = target.tools.innerCall(found.inner, args);
      return { server: found.server, params: inner === undefined ? { name } : { name, arguments: inner } };
    },
    filtered: (name: string, tools: readonly Tool[]) =>
      new ToolFilter(servers.find(name)?.parts.filter ?? {}).apply(name, tools),
    watch: (name: string, uri: string, updated: () => void) => servers.find(name)?.watch(uri, updated) ?? (() => {}),
  };
  parts.registry.addFeature(new RemoteOffers(parts, source, tools === "search"));
  const unlisten = onChanged((lists) => {
    parts.registry.changed();
    for (const list of lists) server.listChanged(list);
  });
  parts.pipeline.closers.push(unlisten);
  return server;
}
