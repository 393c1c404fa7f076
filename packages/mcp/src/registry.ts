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
