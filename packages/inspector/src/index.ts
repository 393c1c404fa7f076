export type { InspectorTarget, TargetHooks } from "./connections/inspector-target.js";
