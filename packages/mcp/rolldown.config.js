import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineConfig } from "rolldown";

const here = import.meta.dirname;
const source = (path) => resolve(here, "src", path);

/** What users can import, as `package.json` lists it: `.` is `src/index.ts`, `./storage/sqlite` is `src/storage-sqlite.ts`. */
const { exports } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const names = Object.keys(exports)
  .filter((key) => !key.endsWith(".json"))
  .map((key) => (key === "." ? "index" : key.slice(2).replaceAll("/", "-")));
const input = Object.fromEntries(names.map((name) => [name, `src/${name}.ts`]));
/** The program of a worker, which nothing imports: it lies beside the file that starts it. */
const workerProgram = source("node/isolate/tool-worker.ts");

/**
 * What the sources call by a name, because it differs by runtime; each build has one of them built in. `many` is the file for
 * what many need that no import of the package evaluates: on Node a file of its own would cost each of them more than it
 * weighs, elsewhere a bundle that loads it at once would weigh more.
 */
const runtimes = {
  node: { many: "core", "#platform": source("node/platform.ts"), "#transports": source("node/entry/transports.ts") },
  web: {
    many: "parts",
    "#platform": source("platform/default.ts"),
    "#transports": source("transport/default-transports.ts"),
  },
};

export default defineConfig(
  Object.entries(runtimes).map(([name, { many, ...alias }]) =>
    build(`dist/run-${name}`, alias, many, name === "node" ? { ...input, "chunks/tool-worker": workerProgram } : input),
  ),
);

function build(dir, alias, many, input) {
  return {
    cwd: here,
    input,
    platform: "neutral",
    preserveEntrySignatures: "allow-extension",
    tsconfig: false,
    resolve: { alias },
    // Packages stay imports.
    external: (id) => !/^[.#/]/.test(id) && !/^[a-z]:/i.test(id),
    output: {
      dir,
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name].js",
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [{ name: (id, context) => chunkOf(id, context, many), debugName: "rooms" }],
      },
      comments: { legal: true, annotation: true, jsdoc: false },
      // The sources are in the package; a debugger finds them there.
      sourcemap: true,
      sourcemapExcludeSources: true,
    },
    plugins: [
      { name: "empty-the-folder", buildStart: () => rmSync(join(here, dir), { recursive: true, force: true }) },
      { name: "inline-the-runtime", generateBundle: inlineTheRuntime },
    ],
  };
}

/** The bundler's own few lines would be a file of their own, and each file more costs every start half a millisecond. */
function inlineTheRuntime(_options, bundle) {
  const file = "chunks/rolldown-runtime.js";
  const runtime = bundle[file];
  if (runtime === undefined) return;
  const [body, exported] = runtime.code.split(/^export \{ (.*) \};$/m);
  const names = Object.fromEntries(exported.split(", ").map((pair) => pair.split(" as ").reverse()));
  // On one line, so that the lines of the source maps stay right.
  const oneLine = body
    .replace(/^\/\/.*$/gm, "")
    .replace(/\s*\n\s*/g, " ")
    .trim();
  for (const chunk of Object.values(bundle)) {
    if (chunk.type !== "chunk" || chunk === runtime) continue;
    chunk.code = chunk.code.replace(/^import \{ (.*) \} from "\.\/rolldown-runtime\.js";$/m, (_all, imported) => {
      const aliases = imported.split(", ").map((pair) => pair.split(" as "));
      const renamed = aliases.filter(([name, local]) => names[name] !== local);
      if (renamed.length > 0) throw new Error(`the bundler's runtime is imported under another name: ${imported}`);
      return oneLine;
    });
    if (chunk.code.includes("rolldown-runtime.js")) throw new Error(`${chunk.fileName} still imports the runtime`);
  }
  delete bundle[file];
}

/** What an `import()` loads, by the file that it names: everything this file needs beyond `core`. */
const onDemand = {
  http: ["transport/http/fetch-core.ts"],
  questions: ["server/questions/asking.ts"],
  client: ["client/open-client.ts"],
  channel: ["transport/channel/websocket-connection.ts"],
};
/** The same on Node alone; what two of them need is in the first. */
const onDemandOnNode = {
  "node-http": ["node/http/handler.ts", "node/http/serve-http.ts"],
  "node-client": ["node/stdio/child-transport.ts"],
  "node-socket": [
    "node/socket/socket-connection.ts",
    "node/socket/socket-server.ts",
    "node/socket/websocket-server.ts",
  ],
  "node-isolate": ["node/isolate/worker-pool.ts", "node/isolate/tool-worker.ts"],
};

/**
 * The file that a module goes into. All that `import "@parley/mcp"` evaluates is one file, since each file more costs time at
 * every start, and so is what `/node` adds to it. The rest goes by who needs it. An entry is a file that does nothing but
 * export: then it exports its own names and no others.
 */
function chunkOf(id, context, many) {
  const needs = (path) => reached(source(path), context).has(id);
  if (id === workerProgram || names.some((name) => id === source(`${name}.ts`))) return null;
  // With the entry, so that a bundler which leaves `connect` out leaves out the client too.
  if (id === source("client/connect.ts")) return null;
  if (needs("index.ts")) return "core";
  // What it names is there; from the file for many, that file and this one would import each other.
  if (id === runtimes.node["#transports"]) return "core-node";
  const rooms = Object.keys(onDemand).filter((room) => onDemand[room].some(needs));
  // A host has the client and the questions whole, so it is no further reason to move what they need into the file for many;
  // recordings are served by a host. A registry has the client whole.
  const hasHost = (name) => name === "host" || name === "recording";
  const hasClient = (name) => hasHost(name) || name === "registry";
  const follows = (name) =>
    (hasClient(name) && rooms.includes("client")) || (hasHost(name) && rooms.includes("questions"));
  const entries = names.filter((name) => name !== "node" && !follows(name) && needs(`${name}.ts`));
  const users = [...rooms, ...entries].sort();
  if (needs("node.ts")) return users.length === 0 || id.startsWith(source("node/")) ? "core-node" : many;
  if (users.length === 0) return Object.keys(onDemandOnNode).find((room) => onDemandOnNode[room].some(needs)) ?? null;
  // Lint looks at tools through the adapters, and recordings are served by a host, so what both need is needed once.
  const within = { lint: "adapters", recording: "host" };
  const reasons = users.filter((name) => !users.includes(within[name]));
  if (reasons.length > 2) return many;
  return rooms.length === 0 && users.length === 1 ? null : users.join("-and-");
}

const known = new WeakMap();

/** All modules that one evaluates, without those it only reaches by `import()`. */
function reached(entry, context) {
  if (!known.has(context)) known.set(context, new Map());
  const cache = known.get(context);
  if (!cache.has(entry))
    cache.set(
      entry,
      closure(entry, (id) => context.getModuleInfo(id)?.importedIds ?? []),
    );
  return cache.get(entry);
}

function closure(start, next) {
  const found = new Set([start]);
  // A set gives out what is added while it is walked.
  for (const id of found) for (const other of next(id)) found.add(other);
  return found;
}
