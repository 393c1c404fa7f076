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
export { type RemoteServerOptions, remoteServer } from "./host/remote-server.js";
