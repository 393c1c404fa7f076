import type { Icon } from "../implementation.js";
import type { JSONSchemaObject, MetaObject } from "../json.js";

/** What a tool says about its behaviour; hints only, not to be trusted from an unknown server. From 2025-03-26 on. */
export interface ToolAnnotations {
  title?: string;
  /** Changes nothing. Taken as false when absent. */
  readOnlyHint?: boolean;
  /** May destroy something rather than only add. Taken as true when absent. */
  destructiveHint?: boolean;
  /** A second call with the same arguments has no further effect. Taken as false when absent. */
  idempotentHint?: boolean;
  /** Touches things outside the server's own domain. Taken as true when absent. */
  openWorldHint?: boolean;
}

/** How a tool may be executed. 2025-11-25 only. */
export interface ToolExecution {
  /** Whether a call may, must or must not ask for a task. Taken as `forbidden` when absent. */
  taskSupport?: "forbidden" | "optional" | "required";
}

/** The JSON Schema of a tool's arguments: always that of an object. */
export interface ToolInputSchema extends JSONSchemaObject {
  type: "object";
  properties?: { [name: string]: unknown };
  required?: string[];
}

/** A tool as the client sees it. */
export interface Tool {
  name: string;
  /** A name for people. From 2025-06-18 on. */
  title?: string;
  description?: string;
  inputSchema: ToolInputSchema;
  /** The schema of `structuredContent`: of an object in 2025-06-18 and 2025-11-25, any schema from 2026-07-28 on. */
  outputSchema?: JSONSchemaObject;
  annotations?: ToolAnnotations;
  /** 2025-11-25 only. */
  execution?: ToolExecution;
  /** From 2025-11-25 on. */
  icons?: Icon[];
  _meta?: MetaObject;
}
