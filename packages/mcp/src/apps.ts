export type { AppPage, AppPages } from "./extensions/apps/app-pages.js";
export { type AppsOptions, apps } from "./extensions/apps/apps.js";
export { contentPolicy } from "./extensions/apps/content-policy.js";
export type {
  AppHooks,
  AppLimits,
  AppRefusal,
  AppServer,
  AppToolCall,
  HostElement,
  HostFrame,
  HostWindow,
  ShowAppOptions,
} from "./extensions/apps/host/app-options.js";
export { type SandboxPage, type SandboxPageOptions, sandboxPage } from "./extensions/apps/host/sandbox-page.js";
export { type ShownApp, showApp } from "./extensions/apps/host/show-app.js";
export { showsApps } from "./extensions/apps/ui-meta.js";
export type {
  UiCsp,
  UiDisplayMode,
  UiHostContext,
  UiMessageParams,
  UiModelContext,
  UiPermission,
  UiSize,
  UiVisibility,
} from "./protocol/features/apps.js";
export type { ToolUi } from "./server/contract/tool.js";
