import type { FoundImport, ScannedSource } from "./scan-source.js";
import { violation } from "./violation.js";

const base = ["encoding", "platform", "http", "jsonrpc", "schema", "uri-template", "storage"];
const upToEra = [...base, "protocol", "seal", "era"];
const upToTransport = [...upToEra, "transport", "auth"];
const neutral = [...upToTransport, "client", "server"];

/**
 * What each folder of `src/` may import, besides itself. Imports point down only, and `client` and `server` never reach
 * each other. `node` is in nobody's list but its own kind's: neutral code reaches it by the names below alone.
 */
export const importTable: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(base.map((folder) => [folder, []])),
  protocol: base,
  seal: [...base, "protocol"],
  era: [...base, "protocol"],
  transport: upToEra,
  auth: upToEra,
  // The server, because isolated tools are tools.
  node: [...upToTransport, "server"],
  client: upToTransport,
  server: upToTransport,
  host: [...neutral, "lock"],
  extensions: neutral,
  adapters: upToEra,
  telemetry: neutral,
  lock: [...upToTransport, "client"],
  lint: [...upToEra, "adapters"],
  // The host, because a recording is served like a server elsewhere.
  recording: [...neutral, "host"],
  testing: [...neutral, "node", "host", "extensions"],
};

/** Packages that neutral code may import; a package that starts processes or opens sockets belongs to `node/`. */
const neutralPackages = new Set(["@standard-schema/spec", "eventsource-parser", "jose", "oauth4webapi"]);

/** Names that each build resolves for its runtime, and the folder whose interface they implement. */
const chosenByCondition: Readonly<Record<string, string>> = { "#platform": "platform", "#transports": "transport" };

/** The folder of `src/` that a file belongs to; `undefined` for an entry file. */
function folderOf(path: string): string | undefined {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : undefined;
}

/** The path below `src/` that a relative import names, with the source's extension. */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return new URL(specifier, `file:///${from}`).pathname.slice(1).replace(/\.js$/, ".ts");
}

export function importsOutsideTheTable(files: readonly ScannedSource[]): string[] {
  return files.flatMap((file) => {
    const from = folderOf(file.path);
    if (from === undefined) return [];
    const allowed = importTable[from];
    if (allowed === undefined) return [violation(file, 1, "import table", `folder ${from}/ has no row`)];
    return file.imports.flatMap((found) => {
      const to = targetFolder(file.path, found);
      if (to === undefined || to === from || isAllowed(allowed, to, found, from)) return [];
      return [violation(file, found.line, "import table", `${from}/ may not import ${to} (${found.text})`)];
    });
  });
}

function targetFolder(path: string, found: FoundImport): string | undefined {
  const chosen = chosenByCondition[found.text];
  if (chosen !== undefined) return chosen;
  const target = resolveImport(path, found.text);
  if (target === undefined) return undefined;
  return folderOf(target) ?? "an entry file";
}

function isAllowed(allowed: readonly string[], to: string, found: FoundImport, from: string): boolean {
  // Encoding is below everything, and the platform below all others.
  if (base.includes(from))
    return from !== "encoding" && (to === "encoding" || to === "platform") && found.text !== "#platform";
  return allowed.includes(to);
}

export function packagesOutsideNode(files: readonly ScannedSource[]): string[] {
  return files.flatMap((file) => {
    if (folderOf(file.path) === "node" || file.path === "node.ts" || file.path === "login.ts") return [];
    return file.imports
      .filter(({ text }) => !text.startsWith(".") && !(text in chosenByCondition) && !neutralPackages.has(text))
      .map(({ text, line }) => violation(file, line, "packages", `${text} may be imported in node/ only`));
  });
}

/** Cycles among imports that exist at run time: a cycle makes the order of evaluation depend on who imports first. */
export function importCycles(files: readonly ScannedSource[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (file: ScannedSource, trail: readonly string[]): void => {
    for (const found of file.imports) {
      const target = found.typeOnly || found.dynamic ? undefined : resolveImport(file.path, found.text);
      const next = target === undefined ? undefined : byPath.get(target);
      if (next === undefined) continue;
      const at = trail.indexOf(next.path);
      if (at >= 0)
        cycles.push(violation(file, found.line, "import cycle", [...trail.slice(at), next.path].join(" → ")));
      else if (!done.has(next.path)) walk(next, [...trail, next.path]);
    }
    done.add(file.path);
  };
  for (const file of files) if (!done.has(file.path)) walk(file, [file.path]);
  return cycles;
}
