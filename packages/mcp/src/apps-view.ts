export {
  type AppHost,
  type ConnectToHostOptions,
  connectToHost,
  type HostRequestOptions,
} from "./extensions/apps/view/connect-to-host.js";
export type { ViewElement, ViewWindow } from "./extensions/apps/view/host-dialogue.js";
export { HostError } from "./extensions/apps/view/host-dialogue.js";
export type {
  UiDisplayMode,
  UiHostCapabilities,
  UiHostContext,
  UiModelContext,
  UiSize,
} from "./protocol/features/apps.js";
