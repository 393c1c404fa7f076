import type { Fetch, Platform } from "../platform/platform.js";
import type { ElicitRequestParams, ElicitResult } from "../protocol/elicitation.js";
import type { Extension } from "../protocol/extension.js";
import type { Implementation } from "../protocol/implementation.js";
import type { ProgressNotificationParams } from "../protocol/lifecycle.js";
import type { LoggingLevel } from "../protocol/logging.js";
import type { Revision } from "../protocol/revisions.js";
import type { Root } from "../protocol/roots.js";
import type { CreateMessageRequestParams, CreateMessageResult } from "../protocol/sampling.js";

/** How long a client waits, in milliseconds. */
export interface Timeouts {
  /** For the connection and its handshake. Default 30 s. */
  connect: number;
  /** Without any sign of life of one call; progress is one. Default 60 s. */
  idle: number;
  /** For one call as a whole. Default 60 min. */
  total: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = { connect: 30_000, idle: 60_000, total: 3_600_000 };

/** What was learnt about a server before; skips the question which revisions it speaks. */
export interface Prior {
  revision: Revision;
}

/** What an answerer of the server's questions is told beside the question. */
export interface QuestionContext {
  /** Aborted when the server no longer wants the answer. */
  readonly signal: AbortSignal;
  /** Who asks, as it calls itself. */
  readonly server: Implementation | undefined;
}

/** Options of a connection. */
export interface ClientOptions {
  /** Who connects. Default: this package's name and version. */
  name?: string;
  version?: string;
  /** Revisions to speak; all by default. */
  revisions?: readonly Revision[];
  prior?: Prior;
  timeouts?: Partial<Timeouts>;
  /** Ends the attempt to connect. */
  signal?: AbortSignal;
  /** Answers forms and pages; without it the server is told that nobody can. */
  onElicit?(question: ElicitRequestParams, context: QuestionContext): ElicitResult | Promise<ElicitResult>;
  /** Whether `onElicit` also handles pages to visit. Default: true. */
  elicitUrls?: boolean;
  /** Answers questions to the model. */
  onSample?(
    question: CreateMessageRequestParams,
    context: QuestionContext,
  ): CreateMessageResult | Promise<CreateMessageResult>;
  /** Whether `onSample` handles tools. Default: true. */
  sampleTools?: boolean;
  /** Folders that the server may work in. */
  roots?: readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>);
  /** Least level of log messages to ask for. */
  logLevel?: LoggingLevel;
  /** Rounds of questions in one call. Default 32. */
  maxRounds?: number;
  extensions?: readonly Extension[];
  /** Sent with every HTTP request. */
  headers?: Record<string, string>;
  /** Sends HTTP requests in place of the runtime's own way. */
  fetch?: Fetch;
  platform?: Partial<Platform>;
}

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call, here and at the server. */
  signal?: AbortSignal;
  onProgress?(progress: ProgressNotificationParams): void;
  timeouts?: Partial<Pick<Timeouts, "idle" | "total">>;
  /** More members for the request's `_meta`. */
  meta?: Record<string, unknown>;
}
