/** Requests that a call run as a task. 2025-11-25 only. */
export interface TaskMetadata {
  /** How long the task should be kept, in milliseconds. */
  ttl?: number;
}

/** The value of `_meta["io.modelcontextprotocol/related-task"]`. 2025-11-25 only. */
export interface RelatedTaskMetadata {
  taskId: string;
}
