import type { Icon } from "../implementation.js";
import type { JSONSchemaObject, MetaObject } from "../json.js";

/** Hints about a tool's behaviour. Do not trust the hints of an unknown server. From 2025-03-26 on. */
export interface ToolAnnotations {
  /** A human-readable name. From 2025-06-18 on, `Tool.title` takes precedence. */
  title?: string;
  /** True if the tool does not change its environment. Default: false. */
  readOnlyHint?: boolean;
  /** True if the tool may delete or overwrite data, false if it only adds. Default: true. */
  destructiveHint?: boolean;
  /** True if repeated calls with the same arguments have no further effect. Default: false. */
  idempotentHint?: boolean;
  /** True if the tool interacts with systems outside the server's own domain. Default: true. */
  openWorldHint?: boolean;
}

/** The execution options of a tool. 2025-11-25 only. */
export interface ToolExecution {
  /**
   * States whether clients call the tool as a task: they must not (`forbidden`), they may (`optional`), or they must
   * (`required`). Default: `forbidden`.
   */
  taskSupport?: "forbidden" | "optional" | "required";
}

/** The JSON Schema of a tool's arguments. Arguments are always an object. */
export interface ToolInputSchema extends JSONSchemaObject {
  /** The JSON Schema type, always `object`. */
  type: "object";
  /** The schemas of the arguments, by name. */
  properties?: { [name: string]: unknown };
  /** The names of the required arguments. */
  required?: string[];
}

/** A tool as the client sees it. */
export interface Tool {
  /** The name for `tools/call`. Shown to users if there is no `title`. */
  name: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
  /** A description of the tool, for the model. */
  description?: string;
  /** The JSON Schema of the arguments. */
  inputSchema: ToolInputSchema;
  /**
   * The JSON Schema of `structuredContent`. It describes an object in 2025-06-18 and 2025-11-25, and may describe any
   * value from 2026-07-28 on.
   */
  outputSchema?: JSONSchemaObject;
  /** Hints about the tool's behaviour. From 2025-03-26 on. */
  annotations?: ToolAnnotations;
  /** The execution options of the tool. 2025-11-25 only. */
  execution?: ToolExecution;
  /** Icons for user interfaces. From 2025-11-25 on. */
  icons?: Icon[];
  /** Metadata of the tool. */
  _meta?: MetaObject;
}
