import { whenReady } from "../../encoding/maybe-promise.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { CallToolResult, Tool } from "../../protocol/features/tools.js";
import { LIBRARY_VERSION } from "../../protocol/implementation.js";
import type { ServerCall } from "../../server/call/server-call.js";
import type { ServerInfo, ServerOptions } from "../../server/contract/options.js";
import type { OfferList } from "../../server/contract/source.js";
import { internalsOf, Server } from "../../server/server.js";
import type { PlainSource } from "../../server/sources/checked-source.js";
import { type GatewayBackends, HostSource } from "./host-source.js";
import { MetaTools } from "./meta-tools.js";

/** Options of `Host.asServer`. All are optional. */
export interface GatewayOptions {
  /** The name and version that clients see. Default: those of this package. */
  info?: ServerInfo | undefined;
  /** Options of the server that clients see. */
  server?: ServerOptions | undefined;
  /**
   * The tools that clients see: `all`, or with `search` three tools that search, describe and call the others, so that
   * a model loads only the tools it needs. Default: `all`.
   */
  tools?: "all" | "search" | undefined;
}

const INFO: ServerInfo = { name: "parley-gateway", version: LIBRARY_VERSION };

/** Creates a server that offers everything the servers of a host offer. */
export function gatewayServer(backends: GatewayBackends, options: GatewayOptions): Server {
  checkOptions("`asServer`", options, "info server tools");
  const { tools = "all", info = INFO, server = {} } = options;
  if (tools !== "all" && tools !== "search") {
    throw new McpError("invalid_definition", `\`tools\` of \`asServer\` is ${JSON.stringify(tools)}`, {
      fix: 'Pass "all" or "search".',
    });
  }
  const source = new HostSource(backends, server);
  const shown = tools === "search" ? searchSource(source, backends) : source;
  const made = new Server(info, server);
  // Rank 1 puts the servers of the host before the sources of the application.
  internalsOf(made).source.add(shown, 1);
  return made;
}

/** Wraps a source so that clients see three tools that search, describe and call its tools. */
function searchSource(source: HostSource, { catalogue }: GatewayBackends): PlainSource {
  const meta = new MetaTools<ServerCall>({
    tools: () => catalogue.all("tools"),
    serverOf: ({ name }) => catalogue.find("tools", name)?.server ?? "",
    // Safe: `forward` has checked the result of the tool.
    callTool: async (name, args, call) => (await source.callByName(name, args, call)) as CallToolResult,
  });
  let indexed: readonly Tool[] | undefined;
  let listed: OfferList = { items: [] };
  return {
    capabilities: () => source.capabilities(),
    instructions: () => source.instructions(),
    onChange: (listener) => source.onChange(listener),
    watchOf: (uri) => source.watchOf(uri),
    close: () => source.close(),
    get connects() {
      return source.connects;
    },
    list(kind, call) {
      const all = source.list(kind, call as ServerCall);
      if (kind !== "tools") return all;
      return whenReady(all, ({ cache }) => {
        const tools = catalogue.all("tools");
        if (tools !== indexed || listed.cache !== cache) {
          indexed = tools;
          listed = { items: meta.tools(), cache };
        }
        return listed;
      });
    },
    find(kind, name, call) {
      if (kind !== "tools" || !meta.has(name)) return source.find(kind, name, call as ServerCall);
      return { run: (served: ServerCall) => meta.call(name, served.objectParam("arguments"), served) };
    },
  };
}
