import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineConfig } from "rolldown";

const here = import.meta.dirname;
const source = (path) => resolve(here, "src", path);

/** What users can import, as `package.json` lists it: `.` is `src/index.ts`, `./storage/sqlite` is `src/storage-sqlite.ts`. */
const { exports, imports } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const names = Object.keys(exports)
  .filter((key) => !key.endsWith(".json"))
  .map((key) => (key === "." ? "index" : key.slice(2).replaceAll("/", "-")));
const input = Object.fromEntries(names.map((name) => [name, `src/${name}.ts`]));
/** The program of a worker, which nothing imports: it lies beside the file that starts it. */
const workerProgram = source("node/isolate/tool-worker.ts");

/**
 * What the sources call by a name, because it differs by runtime; each build has one of them built in. `own` lists the files that
 * differ between the builds: `package.json` selects one by the condition `node`, and all other files are shared. The entries
 * that every program loads are among them, because resolving a name of `imports` costs a start a millisecond.
 * `parts` is the file for what many need that no import of the root evaluates. `withNode` is the file for those of them that `/node`
 * evaluates too: on Node they are in `core`, since parts that load `core-node` would fail where Node's modules are missing, elsewhere
 * they are parts like the others. Node comes last, and writes the shared files.
 */
const runtimes = {
  web: {
    own: ["index", "node", "core", "core-node", "parts"],
    withNode: "parts",
    "#platform": source("platform/default.ts"),
    "#transports": source("transport/default-transports.ts"),
  },
  node: {
    own: ["index", "node", "core", "core-node", "parts", "sha256"],
    withNode: "core",
    "#platform": source("node/platform.ts"),
    "#transports": source("node/entry/transports.ts"),
  },
};

/** The shared files as the build before made them, by name. */
const shared = new Map();

export default defineConfig(Object.entries(runtimes).map(([name, settings]) => build(name, settings)));

function build(runtime, { own, withNode, ...alias }) {
  return {
    cwd: here,
    input: { ...input, "chunks/tool-worker": workerProgram },
    platform: "neutral",
    preserveEntrySignatures: "allow-extension",
    tsconfig: false,
    resolve: { alias },
    // Packages stay imports.
    external: (id) => !/^[.#/]/.test(id) && !/^[a-z]:/i.test(id),
    output: {
      dir: "dist",
      format: "esm",
      entryFileNames: ({ name }) => (own.includes(name) ? `run-${runtime}/${name}.js` : `${name}.js`),
      chunkFileNames: ({ name }) => (own.includes(name) ? `run-${runtime}/${name}.js` : `chunks/${name}.js`),
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [{ name: (id, context) => chunkOf(id, context, withNode), debugName: "rooms" }],
      },
      // Both builds export a name under itself, so that shared files can import it from either.
      minifyInternalExports: false,
      comments: { legal: true, annotation: true, jsdoc: false },
    },
    plugins: [
      { name: "inline-the-runtime", generateBundle: inlineTheRuntime },
      { name: "share-the-rest", generateBundle: (_options, bundle) => shareTheRest(bundle) },
    ],
  };
}

/**
 * Leaves to the first build its own files, and to the second its own and the shared ones, which import the former by the names
 * of `imports`. Fails where the builds differ in another file.
 */
function shareTheRest(bundle) {
  const chunks = Object.values(bundle).filter(({ fileName }) => !fileName.startsWith("run-"));
  if (shared.size === 0) {
    for (const { fileName, code } of chunks) {
      shared.set(fileName, code);
      delete bundle[fileName];
    }
    return;
  }
  for (const chunk of chunks) {
    const web = shared.get(chunk.fileName);
    if (web === undefined || bodyOf(web) !== bodyOf(chunk.code))
      throw new Error(`${chunk.fileName} differs between the builds: list it in \`own\``);
    shared.delete(chunk.fileName);
    chunk.code = withSharedImports(web, chunk.code);
  }
  if (shared.size > 0) throw new Error(`only the build for the web has ${[...shared.keys()]}: list it in \`own\``);
}

/** The code without its imports and exports, whose order and grouping may differ. */
function bodyOf(code) {
  return code.replace(/^(?:import|export) (?:\{.*|".*)\n/gm, "");
}

/** An import or export of names from a file that differs between the builds. */
const FROM_OWN = /^(import|export) \{ (.*) \} from "[./]+\/(run-\w+\/[\w-]+\.js)";$/gm;

/** Imports each name by the key of `imports` whose targets are the files that have it in the two builds. */
function withSharedImports(web, node) {
  const places = new Map(
    [...node.matchAll(FROM_OWN)].flatMap(([, , names, file]) => names.split(", ").map((name) => [name, file])),
  );
  return web.replace(FROM_OWN, (_all, word, names, file) => {
    const byKey = {};
    for (const name of names.split(", ")) {
      const key = keyOf(name, places.get(name), file);
      byKey[key] = [...(byKey[key] ?? []), name];
    }
    return Object.entries(byKey)
      .map(([key, own]) => `${word} { ${own.join(", ")} } from "${key}";`)
      .join("\n");
  });
}

function keyOf(name, node, web) {
  const found = Object.entries(imports).find(
    ([, targets]) => targets.node === `./dist/${node}` && targets.default === `./dist/${web}`,
  );
  if (found === undefined) throw new Error(`${name} is in ${node} and ${web}: \`imports\` has no key for them`);
  return found[0];
}

/** The bundler's own few lines would be a file of their own, and each file more costs every start half a millisecond. */
function inlineTheRuntime(_options, bundle) {
  const file = "chunks/rolldown-runtime.js";
  const runtime = bundle[file];
  if (runtime === undefined) return;
  const [body, exported] = runtime.code.split(/^export \{ (.*) \};$/m);
  const names = Object.fromEntries(exported.split(", ").map((pair) => pair.split(" as ").reverse()));
  const lines = body.replace(/^\/\/.*\n/gm, "").trim();
  for (const chunk of Object.values(bundle)) {
    if (chunk.type !== "chunk" || chunk === runtime) continue;
    chunk.code = chunk.code.replace(
      /^import \{ (.*) \} from "[./]+(?:\w+\/)?rolldown-runtime\.js";$/m,
      (_all, imported) => {
        const aliases = imported.split(", ").map((pair) => pair.split(" as "));
        const renamed = aliases.filter(([name, local]) => names[name] !== local);
        if (renamed.length > 0) throw new Error(`the bundler's runtime is imported under another name: ${imported}`);
        return lines;
      },
    );
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
function chunkOf(id, context, withNode) {
  const needs = (path) => reached(source(path), context).has(id);
  if (id === workerProgram || names.some((name) => id === source(`${name}.ts`))) return null;
  // With the entry, so that a bundler which leaves `connect` out leaves out the client too.
  if (id === source("client/connect.ts")) return null;
  if (needs("index.ts")) return "core";
  if (id === source("platform/sha256.ts")) return "sha256";
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
  if (needs("node.ts")) return users.length === 0 || id.startsWith(source("node/")) ? "core-node" : withNode;
  if (users.length === 0) return Object.keys(onDemandOnNode).find((room) => onDemandOnNode[room].some(needs)) ?? null;
  // Lint looks at tools through the adapters, and recordings are served by a host, so what both need is needed once.
  const within = { lint: "adapters", recording: "host" };
  const reasons = users.filter((name) => !users.includes(within[name]));
  if (reasons.length > 2) return "parts";
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
