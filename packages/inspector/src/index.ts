export type { InspectorTarget, TargetHooks } from "./connections/inspector-target.js";
export { type InspectOptions, inspect } from "./inspect.js";
export type { Inspector, InspectorOptions } from "./inspector-options.js";
export { startInspector } from "./start-inspector.js";
