export type { ChangeParams, ConnectedExtension, ExtendedClient, ExtendedOutcome } from "./client/contract/extension.js";
export {
  type DefinedExtension,
  defineExtension,
  type ExtensionDefinition,
} from "./extensions/seam/define-extension.js";
export type {
  ExtendedServer,
  ExtensionCall,
  PreparedCall,
  ServedExtension,
} from "./extensions/seam/extended-server.js";
export { declaresExtension, type Extension, requireExtension } from "./protocol/extension.js";
export type { Asker } from "./server/call/asker.js";
export { ExtensionResult } from "./server/call/server-call.js";
