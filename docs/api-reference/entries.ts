import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

/** The published packages with declarations: the folder, its TypeScript project, and the first word of its pages' names. */
const PACKAGES = [
  ["packages/mcp", "tsconfig.node.json", ""],
  ["packages/redis", "tsconfig.lib.json", "redis"],
  ["packages/inspector", "tsconfig.lib.json", "inspector"],
] as const;

/** One way into the package, as `package.json` lists it. */
export interface Entry {
  /** What people import. */
  readonly name: string;
  /** The source file behind it. */
  readonly source: string;
  /** The TypeScript project that compiles it, from the root of the repository. */
  readonly config: string;
  /** Its page, in `docs/api`. */
  readonly page: string;
  readonly purpose: string;
}

const PURPOSES: Readonly<Record<string, string>> = {
  redis: "Storage on Redis or Valkey, for servers on several nodes.",
  inspector: "The inspector: a browser page that connects to MCP servers and shows every message.",
  ".": "The main entry: servers, clients, tools, resources, prompts, content and errors.",
  "./node": "Functions that need Node: serving and connecting over stdio, HTTP, sockets and WebSocket.",
  "./transport": "For authors of transports: the interfaces to servers and clients, channels and framings.",
  "./auth": "Authorization: OAuth for clients, and protection for servers.",
  "./adapters": "Converts MCP tools for agent frameworks and model providers, and runs their tool calls.",
  "./apps": "MCP Apps: tools with a page on servers, and rendering of such pages in hosts.",
  "./apps-view": "MCP Apps: the client that the script of a page uses inside its frame.",
  "./extension":
    "For authors of protocol extensions: `defineExtension`, and the interfaces that servers and clients give to extensions.",
  "./limits": "Quotas per caller and rate limits of tools, on one node or shared by all nodes through a storage.",
  "./lint":
    "Checks of tool definitions: names, descriptions, schemas, costs, limits of providers, hidden instructions.",
  "./lock":
    "Pins the definitions of a server, reports later changes, and blocks unapproved tools in clients: protection against rug pulls.",
  "./login": "Login for programs on Node: by browser or terminal, with tokens stored in a file.",
  "./config": "Configuration: server lists of other applications, and program options from files and variables.",
  "./host": "A host for many servers, its gateway, and search over their tools.",
  "./http": "HTTP independent of the runtime: handlers, their options, requests and responses.",
  "./protocol": "The MCP specification as types and tables: messages, errors, revisions.",
  "./recording":
    "Records sessions without secrets, replays them as a server, and compares recorded results with new ones.",
  "./registry": "A registry that serves many servers by name behind one address.",
  "./skills":
    "The skills extension: serves instructions for agents from folders or values, and verifies and loads them.",
  "./storage": "The storage contract for state that processes share, and an in-memory implementation.",
  "./storage/sqlite": "Storage in a SQLite file, which survives restarts; for a single machine.",
  "./supervision": "Supervision: restarts failed children by a policy, in trees, and reports events.",
  "./tasks": "The tasks extension: tool calls that outlive their request, for servers and clients.",
  "./telemetry":
    "Spans, metrics, log lines and health checks of servers and clients, for OpenTelemetry, Prometheus and any logger.",
  "./testing": "For tests of servers, clients, transports and storage.",
};

/** The entries that have declarations, in the order of each `package.json`. */
export function entriesOf(): Entry[] {
  return PACKAGES.flatMap(([folder, config, prefix]) =>
    entriesOfPackage(join(root, folder), prefix).map((entry) => ({ ...entry, config: `${folder}/${config}` })),
  );
}

function entriesOfPackage(folder: string, prefix: string): Omit<Entry, "config">[] {
  // The package's own file, whose shape the package check holds.
  const { name, exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, unknown>;
  };
  return Object.entries(exports).flatMap(([path, target]) => {
    const declarations = /"\.\/dist\/([\w-]+)\.d\.ts"/.exec(JSON.stringify(target))?.[1];
    if (declarations === undefined) return [];
    const source = join(folder, "src", `${declarations}.ts`);
    const words = [prefix, path === "." ? (prefix === "" ? "mcp" : "") : path.slice(2).replaceAll("/", "-")];
    const page = `${words.filter((word) => word !== "").join("-")}.md`;
    return [{ name: `${name}${path.slice(1)}`, source, page, purpose: PURPOSES[prefix || path] ?? "" }];
  });
}
