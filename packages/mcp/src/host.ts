export { formIssues } from "./client/answers/answerer.js";
export type { CatalogueStore } from "./host/catalogue/catalogue-store.js";
export type { OuterNameOptions } from "./host/catalogue/outer-names.js";
export type { ChangedTool, ToolTransform } from "./host/catalogue/tool-filter.js";
export {
  type SearchDetail,
  type SearchOptions,
  type ToolCategory,
  type ToolHit,
  ToolSearch,
} from "./host/catalogue/tool-search.js";
export { hostConfigSchema } from "./host/config/app/host-config-schema.js";
export {
  type AppConfig,
  configVariables,
  defineConfig,
  type LoadConfigOptions,
  type LoadedConfig,
  loadConfig,
} from "./host/config/app/load-config.js";
export type { HttpSettings, Settings, StdioSettings } from "./host/config/app/settings.js";
export type { ConfigDialect } from "./host/config/config-dialect.js";
export type { ConfigProblem } from "./host/config/config-problem.js";
export type { ConfigInput, ValueSources } from "./host/config/expand-text.js";
export { type ConfigSystem, type KnownConfigFile, knownConfigFiles } from "./host/config/known-config-files.js";
export { type ReadServers, type ReadServersOptions, readServers } from "./host/config/read-servers.js";
export { type WrittenServers, writeServers } from "./host/config/write-servers.js";
export type { CallCounts } from "./host/connection/call-gate.js";
export {
  CIRCUIT_TRANSITIONS,
  type CircuitEvent,
  type CircuitOptions,
  type CircuitState,
} from "./host/connection/circuit-breaker.js";
export type { HealthOptions } from "./host/connection/health-check.js";
export type { GatewayOptions } from "./host/gateway/gateway-server.js";
export { type CallableTools, MetaTools } from "./host/gateway/meta-tools.js";
export { Host, startHost } from "./host/host.js";
export type {
  CatalogueChanged,
  HostEvents,
  HostedState,
  ServerProblem,
  ServerStatus,
  StatusChanged,
  SupervisionStep,
} from "./host/host-events.js";
export type { HostEntry, HostedHere, HostOptions, HostRestarts, HostServer, ToolNames, Trust } from "./host/options.js";
export type { HttpHandler, NamedRequest, RegistryHttpOptions, ServerNaming } from "./host/registry/registry-http.js";
export {
  bindServer,
  directoryHandler,
  directoryServer,
  type ServerDirectory,
} from "./host/registry/server-directory.js";
export type { OfferQuery, ServerOffers } from "./host/registry/server-registry.js";
export {
  type Binding,
  type RegisteredServer,
  type RegistryEvent,
  type RegistryOptions,
  ServerRegistry,
} from "./host/registry/server-registry.js";
export { type RemoteServerOptions, remoteServer } from "./host/remote-server.js";
export type { ChildExit, ChildSpec, RestartPolicy } from "./host/supervision/child-spec.js";
export type { Step } from "./host/supervision/state-table.js";
export {
  CHILD_TRANSITIONS,
  type ChildEvent,
  type ChildState,
  SUPERVISOR_TRANSITIONS,
  type SupervisorEvent,
  type SupervisorState,
} from "./host/supervision/state-table.js";
export {
  type ApplicationOptions,
  type ApplicationTiers,
  superviseApplication,
} from "./host/supervision/supervise-application.js";
export type {
  ChildChanged,
  LeftBehind,
  SupervisionEvent,
  SupervisionEvents,
  SupervisorChanged,
} from "./host/supervision/supervision-event.js";
export { Supervisor } from "./host/supervision/supervisor.js";
export type {
  RestartBackOff,
  RestartIntensity,
  RestartOptions,
  SupervisorOptions,
} from "./host/supervision/supervisor-options.js";
export {
  type ChildStatus,
  printTree,
  type SupervisionStrategy,
  type SupervisorTree,
} from "./host/supervision/supervisor-tree.js";
