import type { Icon } from "../implementation.js";
import type { JSONSchemaObject, MetaObject } from "../json.js";

/** Hints about a tool's behaviour; do not trust them from an unknown server. From 2025-03-26 on. */
export interface ToolAnnotations {
  title?: string;
  /** The tool changes nothing. Default: false. */
  readOnlyHint?: boolean;
  /** The tool may delete or overwrite, not only add. Default: true. */
  destructiveHint?: boolean;
  /** Repeating a call with the same arguments has no further effect. Default: false. */
  idempotentHint?: boolean;
  /** The tool interacts with systems outside the server's own domain. Default: true. */
  openWorldHint?: boolean;
}

/** How a tool may be executed. 2025-11-25 only. */
export interface ToolExecution {
  /** Whether a call may, must or must not request a task. Default: `forbidden`. */
  taskSupport?: "forbidden" | "optional" | "required";
}

/** The JSON Schema of a tool's arguments, which are always an object. */
export interface ToolInputSchema extends JSONSchemaObject {
  type: "object";
  properties?: { [name: string]: unknown };
  required?: string[];
}

/** A tool as the client sees it. */
export interface Tool {
  name: string;
  /** A human-readable name. From 2025-06-18 on. */
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
