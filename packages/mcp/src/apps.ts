export type { AppPage, AppPages } from "./extensions/apps/app-pages.js";
export { type AppsOptions, apps } from "./extensions/apps/apps.js";
export { contentPolicy } from "./extensions/apps/content-policy.js";
export { showsApps } from "./extensions/apps/ui-meta.js";
export type { UiCsp, UiPermission, UiVisibility } from "./protocol/features/apps.js";
export type { ToolUi } from "./server/tools/tool-ui.js";
