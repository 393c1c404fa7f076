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
