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
  redis: "A storage on Redis or Valkey, for servers on several nodes.",
  inspector: "The inspector: a page in the browser that connects to servers and shows every message.",
  ".": "The main entry: servers, clients, tools, resources, prompts, content and errors.",
  "./node": "Functions that need Node: serving and connecting over stdio, HTTP, sockets and WebSocket.",
  "./transport": "For authors of transports: the interfaces to servers and clients, channels and framings.",
  "./auth": "Authorization: OAuth for clients, and protection for servers.",
  "./adapters": "Tools for agent frameworks and model providers: their formats out, their calls back.",
  "./apps": "MCP Apps: tools with a page, for servers, and showing such pages, for hosts.",
  "./apps-view": "MCP Apps: the client for the script of a page, inside its frame.",
  "./extension":
    "For authors of extensions of the protocol: `defineExtension`, and what servers and clients let an extension do.",
  "./limits": "Limits of each caller and of tools with a rate: on one node, or on a storage for all nodes together.",
  "./lint":
    "Checks of tool definitions: names, descriptions, schemas, costs, limits of providers, hidden instructions.",
  "./lock":
    "Pins what a server offers, shows in what it differs later, and holds clients to what was approved: against rug pulls.",
  "./login": "Logging in from programs on Node: with a browser, from a terminal, with tokens in a file.",
  "./config": "Configuration: files with servers of other applications, and the options of a program.",
  "./host": "Many servers as one: a host, its gateway and search among its tools.",
  "./http": "HTTP independent of the runtime: handlers, their options, requests and responses.",
  "./protocol": "The specification as types and tables: messages, errors, revisions.",
  "./recording":
    "Sessions written down: recordings without secrets, servers that answer as recorded, and what answers differently now.",
  "./registry": "Many servers behind one address: a registry of servers by name, and a directory of them.",
  "./skills": "The skills extension: instructions for agents, to serve from folders or values, and to verify and load.",
  "./storage": "The storage contract, for state that several processes share, and an implementation in memory.",
  "./storage/sqlite": "A storage in one SQLite file, for a single machine: what it holds survives a restart.",
  "./supervision": "Supervision: children that are started again by rules, as trees, and the events of both.",
  "./tasks": "The tasks extension: tools that outlive their request, for servers and clients.",
  "./telemetry":
    "Spans, metrics, log lines and health of servers and clients, for OpenTelemetry, Prometheus and any logger.",
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
    const declarations = /"\.\/dist\/([\w/-]+)\.d\.ts"/.exec(JSON.stringify(target))?.[1];
    if (declarations === undefined) return [];
    const source = join(folder, "src", `${declarations.replace(/^types\//, "")}.ts`);
    const words = [prefix, path === "." ? (prefix === "" ? "mcp" : "") : path.slice(2).replaceAll("/", "-")];
    const page = `${words.filter((word) => word !== "").join("-")}.md`;
    return [{ name: `${name}${path.slice(1)}`, source, page, purpose: PURPOSES[prefix || path] ?? "" }];
  });
}
