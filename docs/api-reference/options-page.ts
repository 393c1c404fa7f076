import type { Entry } from "./entries.js";
import type { ApiName, Setting } from "./read-entry.js";
import { WRITTEN } from "./render.js";

/** What users fill in most, in the order in which they meet it, and where it goes. */
const USES: Readonly<Record<string, string>> = {
  ServerOptions: "`new Server(info, options)`",
  ToolDefinition: "`server.tool(name, definition, handler)`",
  ResourceDefinition: "`server.resource(uri, definition, read)`",
  ResourceTemplateDefinition: "`server.resourceTemplate(template, definition, read)`",
  PromptDefinition: "`server.prompt(name, definition, handler)`",
  ClientOptions: "`connect(target, options)`",
  CallOptions: "the last argument of every call of a client",
  ServeHttpOptions: "`serveHttp(server, options)`",
  HttpServerOptions: "`fetchHandler(server, options)` and `nodeHandler(server, options)`",
  HttpLimits: "`limits` of HTTP serving",
  CorsOptions: "`cors` of HTTP serving",
  ServeStdioOptions: "`serveStdio(server, options)`",
  StdioOptions: "`connect({ command, … })`",
  ServeSocketOptions: "`serveSocket(server, options)`",
  ServeWebSocketOptions: "`serveWebSocket(server, options)`",
  HostOptions: "`new Host(options)` and `startHost(options)`",
  OAuthOptions: "`oauth(options)`, for `auth` of a client",
  ResourceServerOptions: "`resourceServer(options)`, for servers that check tokens",
  OAuthProxyOptions: "`oauthProxy(options)`, for providers without registration",
  UpstreamOptions: "`upstream` of `oauthProxy`",
  TaskOptions: "`tasks(options)`",
  TaskLimits: "`limits` of `tasks`",
  QuotaOptions: "`quotas(options)`",
  TelemetryOptions: "`telemetry(options)`",
  LogCallsOptions: "`logCalls(options)`",
  MemoryStorageOptions: "`memoryStorage(options)`",
  SqliteStorageOptions: "`sqliteStorage(options)`",
  RedisStorageOptions: "`redisStorage(options)` of `@parley/redis`",
  InspectOptions: "`server.inspect(options)`",
};

const row = ({ name, required, doc }: Setting) =>
  `| \`${name}\`${required ? " (required)" : ""} | ${doc.replaceAll("|", "\\|")} |\n`;

/** One table for each thing that users fill in; what else has options is on the page of its entry. */
export function optionsPage(entries: readonly { entry: Entry; names: readonly ApiName[] }[]): string {
  const all = entries.flatMap(({ entry, names }) => names.map((api) => ({ entry, api })));
  const parts = Object.entries(USES).map(([name, use]) => {
    const found = all.find(({ api }) => api.name === name);
    if (found === undefined) throw new Error(`no entry exports ${name}`);
    const rows = found.api.settings.map(row).join("");
    return `## ${use}\n\n[\`${name}\`](${found.entry.page}#${name.toLowerCase()}) of \`${found.entry.name}\`.\n\n| option | meaning |\n|---|---|\n${rows}`;
  });
  return `# Options\n\n${WRITTEN} An option that does not exist is refused with the nearest name.\n\n${parts.join("\n")}`;
}
