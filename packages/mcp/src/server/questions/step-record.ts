import type { ErrorKind } from "../../protocol/error.js";
import type { ContentBlock } from "../../protocol/features/content.js";

/** The outcome of a step: its value as JSON, or its failure. */
export type StepRecord = { value?: unknown } | { failure: StepFailure };

/** An error that a step threw, as JSON: enough to throw one of the same kind in a later round. */
export interface StepFailure {
  name: string;
  message: string;
  mcp?: { kind: ErrorKind; code: number; data?: unknown };
  tool?: { content?: readonly ContentBlock[] | undefined };
}
