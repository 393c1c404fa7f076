/** Asks that a request be run as a task. 2025-11-25 only. */
export interface TaskMetadata {
  /** How many milliseconds the task should be kept. */
  ttl?: number;
}

/** The value of `_meta["io.modelcontextprotocol/related-task"]`. 2025-11-25 only. */
export interface RelatedTaskMetadata {
  taskId: string;
}
