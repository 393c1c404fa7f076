export type { ConfigProblem } from "./host/config/config-problem.js";
export type { Dialect } from "./host/config/dialect.js";
export type { ConfigInput, ValueSources } from "./host/config/expand-text.js";
export type { HostServer, ToolChoice, Trust } from "./host/config/host-server.js";
export { type ReadServers, type ReadServersOptions, readServers } from "./host/config/read-servers.js";
