export type { ConfigDialect } from "./host/config/config-dialect.js";
export type { ConfigProblem } from "./host/config/config-problem.js";
export type { ConfigInput, ValueSources } from "./host/config/expand-text.js";
export type { HostServer, ToolNames, Trust } from "./host/config/host-server.js";
export { type ConfigSystem, type KnownConfigFile, knownConfigFiles } from "./host/config/known-config-files.js";
export { type ReadServers, type ReadServersOptions, readServers } from "./host/config/read-servers.js";
