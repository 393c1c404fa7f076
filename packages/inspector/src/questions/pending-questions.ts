import type { ClientOptions, QuestionContext } from "@parley/mcp";
import { formIssues } from "@parley/mcp/host";
import {
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type ElicitRequestParams,
  type ElicitResult,
  type ElicitValue,
  isElicitValue,
  isSamplingContent,
  McpError,
} from "@parley/mcp/protocol";
import { jsonBytes } from "../calls/json-bytes.js";
import type { QuestionAnswer, QuestionInfo } from "../contract/questions.js";
import { isRecord, optionalTextOf, textOf } from "../engine/read-input.js";

/**
 * Limits on pending questions. Questions and drafts are part of the state, which is sent as a whole after each change.
 * A question or draft beyond a limit is rejected with `limit_exceeded`.
 */
export interface QuestionLimits {
  /** Maximum number of pending questions. Default: 64. */
  questions: number;
  /** Maximum size of one question, or of the draft of its answer. Default: 1 MiB. */
  bytes: number;
  /** Maximum size of all questions and drafts. Default: 4 MiB. */
  totalBytes: number;
}

const DEFAULT_LIMITS: QuestionLimits = { questions: 64, bytes: 1024 * 1024, totalBytes: 4 * 1024 * 1024 };

/** Answers a sampling request in place of a model, with the configured command. */
type AnswerForModel = (params: CreateMessageRequestParams, signal: AbortSignal) => Promise<CreateMessageResult>;

/** Options of `PendingQuestions`. */
interface PendingQuestionsOptions {
  /** Milliseconds since the inspector started. */
  now(): number;
  /** Called after every change of `list()`. */
  changed(): void;
  /** Returns the call during which the server of a connection asks a question, if known. */
  callOf(connection: string): string | undefined;
  model?: AnswerForModel | undefined;
  limits?: Partial<QuestionLimits> | undefined;
}

interface PendingQuestion {
  info: QuestionInfo;
  bytes: number;
  readonly signal: AbortSignal;
  /** Sends the answer to the server and removes the question. */
  readonly resolve: (answer: ElicitResult | CreateMessageResult) => void;
  readonly reject: (error: McpError) => void;
}

/** The unanswered questions of all servers. */
export class PendingQuestions {
  readonly #options: PendingQuestionsOptions;
  readonly #limits: QuestionLimits;
  readonly #pending = new Map<string, PendingQuestion>();
  #last = 0;

  constructor(options: PendingQuestionsOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  /**
   * Returns the question handlers for the client of a connection. A question waits for the answer of the user until its
   * signal aborts.
   */
  answerers(connection: string): Pick<ClientOptions, "onElicit" | "onSample"> {
    return {
      onElicit: (params, { signal }) => this.#ask<ElicitResult>(connection, elicitation(params), signal),
      onSample: (params, { signal }) =>
        this.#ask<CreateMessageResult>(connection, { kind: "sampling", params }, signal),
    };
  }

  /** Returns the pending questions, the oldest first. */
  list(): readonly QuestionInfo[] {
    return [...this.#pending.values()].map(({ info }) => info);
  }

  /**
   * Answers a question, or lets the configured command draft the answer. Throws `invalid_params` for a question that
   * has ended and for an invalid answer. After an invalid answer, the question remains pending.
   */
  async answer(id: string, answer: QuestionAnswer): Promise<void> {
    const pending = this.#find(id);
    const { question } = pending.info;
    if (answer.action === "run-command") return this.#draft(pending);
    if (question.kind !== "sampling") return pending.resolve(elicitResult(question, answer));
    if (answer.action === "sample") return pending.resolve(checkedSample(answer.result));
    if (answer.action === "decline") return pending.reject(new McpError("declined", "the user declined to answer"));
    if (answer.action === "cancel") return pending.reject(new McpError("dismissed", "the user did not answer"));
    throw wrongAction(answer.action, "a sampling request");
  }

  #ask<R extends ElicitResult | CreateMessageResult>(
    connection: string,
    question: QuestionInfo["question"],
    signal: QuestionContext["signal"],
  ): Promise<R> {
    const bytes = jsonBytes(question);
    this.#checkLimits(bytes);
    const id = `question-${++this.#last}`;
    const call = this.#options.callOf(connection);
    const asked = { id, connection, askedMs: this.#options.now(), question };
    const info: QuestionInfo = call === undefined ? asked : { ...asked, call };
    return new Promise<R>((resolve, reject) => {
      const finish = () => {
        signal.removeEventListener("abort", cancelled);
        this.#pending.delete(id);
        this.#options.changed();
      };
      const cancelled = () => fail(new McpError("cancelled", "the server no longer waits for this answer"));
      const fail = (error: McpError) => {
        finish();
        reject(error);
      };
      // Safe: `answer` creates an answer of the type that the question expects.
      const succeed = (answer: ElicitResult | CreateMessageResult) => {
        finish();
        resolve(answer as R);
      };
      if (signal.aborted) return cancelled();
      signal.addEventListener("abort", cancelled, { once: true });
      this.#pending.set(id, { info, bytes, signal, resolve: succeed, reject: fail });
      this.#options.changed();
    });
  }

  async #draft(pending: PendingQuestion): Promise<void> {
    const { question } = pending.info;
    const { model } = this.#options;
    if (question.kind !== "sampling") throw wrongAction("run-command", "a form or a page");
    if (model === undefined) {
      throw new McpError("invalid_params", "no command is configured for sampling requests", {
        fix: "Answer by hand, or start the inspector with a command.",
      });
    }
    if (question.command === "running") {
      throw new McpError("invalid_params", "the command is already running", { fix: "Wait until it has answered." });
    }
    const { params } = question;
    this.#change(pending, { kind: "sampling", params, command: "running" });
    try {
      const draft = checkedSample(await model(params, pending.signal));
      this.#checkLimits(jsonBytes(draft), 0);
      this.#change(pending, { kind: "sampling", params, draft });
    } catch (error) {
      this.#change(pending, { kind: "sampling", params, command: "failed" });
      throw error;
    }
  }

  #change(pending: PendingQuestion, question: QuestionInfo["question"]): void {
    pending.info = { ...pending.info, question };
    pending.bytes = jsonBytes(question);
    this.#options.changed();
  }

  #checkLimits(bytes: number, more = 1): void {
    const { questions, bytes: one, totalBytes } = this.#limits;
    const total = [...this.#pending.values()].reduce((sum, pending) => sum + pending.bytes, bytes);
    const exceeded =
      this.#pending.size + more > questions
        ? `there are already ${questions} questions`
        : bytes > one
          ? `it has more than ${one} bytes`
          : total > totalBytes
            ? `all questions together have more than ${totalBytes} bytes`
            : undefined;
    if (exceeded === undefined) return;
    throw new McpError("limit_exceeded", `the question cannot be shown: ${exceeded}`, {
      fix: "Answer the pending questions, or make the server send smaller ones.",
    });
  }

  #find(id: string): PendingQuestion {
    const pending = this.#pending.get(id);
    if (pending !== undefined) return pending;
    throw new McpError("invalid_params", "this question is no longer pending", {
      fix: "Choose one of the pending questions.",
    });
  }
}

function elicitation(params: ElicitRequestParams): QuestionInfo["question"] {
  return params.mode === "url" ? { kind: "url", params } : { kind: "form", params };
}

function elicitResult(
  question: Exclude<QuestionInfo["question"], { readonly kind: "sampling" }>,
  answer: Exclude<QuestionAnswer, { readonly action: "run-command" }>,
): ElicitResult {
  if (answer.action === "sample") throw wrongAction("sample", "a form or a page");
  if (answer.action !== "accept" || question.kind === "url") return { action: answer.action };
  return { action: "accept", content: checkedContent(question.params.requestedSchema, answer.content ?? {}) };
}

function wrongAction(action: string, question: string): McpError {
  return new McpError("invalid_params", `"${action}" cannot answer ${question}`, {
    fix: "Answer what is asked, or decline.",
  });
}

/** A validation error of a form. */
interface FormIssue {
  /** A JSON pointer to the field. Empty for the form as a whole. */
  readonly path: string;
  readonly message: string;
}

/**
 * Returns the content of a form, with defaults for omitted fields. Throws `invalid_params` for invalid content, with a
 * list of `FormIssue` in `data.issues`.
 */
export function checkedContent(
  schema: unknown,
  content: Readonly<Record<string, unknown>>,
): Record<string, ElicitValue> {
  const filled = withDefaults(schema, content);
  const issues = formIssues(schema, filled).map((issue) => locateIssue(issue, namesOf(schema, filled)));
  if (issues.length === 0) return filled;
  throw new McpError("invalid_params", `the answer does not fit the form: ${issues.map(sentence).join("; ")}`, {
    data: { issues: issues.map(labelled) },
    fix: "Correct the fields that are named, and send the form again.",
  });
}

function withDefaults(schema: unknown, content: Readonly<Record<string, unknown>>): Record<string, ElicitValue> {
  const defaults = Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    const value = isRecord(property) ? property["default"] : undefined;
    return Object.hasOwn(content, name) || !isElicitValue(value) ? [] : [[name, value] as const];
  });
  // Safe: the caller uses the content only if it finds no issues, and then every value is an `ElicitValue`.
  return Object.fromEntries([...Object.entries(content), ...defaults]) as Record<string, ElicitValue>;
}

function namesOf(schema: unknown, content: object): readonly string[] {
  const names = [...Object.keys(propertiesOf(schema)), ...Object.keys(content)];
  // The longest name first: `locateIssue` uses the first name that matches, and one name may be a prefix of another.
  return [...new Set(names)].sort((a, b) => b.length - a.length);
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = isRecord(schema) ? schema["properties"] : undefined;
  return isRecord(properties) ? properties : {};
}

/**
 * Finds the field that an issue is about. Field names may contain spaces, so the text of the issue cannot be split at a
 * space. The text is compared with the known names instead.
 */
function locateIssue(issue: string, names: readonly string[]): FormIssue {
  for (const name of names) {
    const quoted = JSON.stringify(name);
    const path = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (issue === `must have the property ${quoted}`) return { path, message: "required" };
    if (issue === `must not have the property ${quoted}`) return { path, message: "not in the schema" };
    for (const start of [path, `/${name}`]) {
      const rest = issue.startsWith(start) ? issue.slice(start.length) : "";
      if (rest.startsWith(" ")) return { path, message: rest.slice(1) };
      const item = /^(\/\d+) (.*)$/s.exec(rest);
      if (item !== null) return { path: `${path}${item[1]}`, message: item[2] ?? "" };
    }
  }
  return { path: "", message: issue };
}

function sentence({ path, message }: FormIssue): string {
  return path === "" ? message : `${path}: ${message}`;
}

/** Capitalizes the message, because the page shows it at the field like the issues that the page finds itself. */
function labelled({ path, message }: FormIssue): FormIssue {
  return { path, message: `${message.charAt(0).toUpperCase()}${message.slice(1)}` };
}

/**
 * Validates a sampling answer, from the page or from the configured command. Throws `invalid_params` if the answer is
 * invalid.
 */
function checkedSample(given: object): CreateMessageResult {
  const model = textOf(given, "model");
  const role = textOf(given, "role");
  const stopReason = optionalTextOf(given, "stopReason");
  const { content } = given as { content?: unknown };
  if (role !== "assistant" && role !== "user")
    throw invalidParams("`role` is neither assistant nor user", 'Send "assistant".');
  if (!isContent(content)) {
    throw invalidParams(
      "`content` is not valid content of a message",
      'Send a block such as { "type": "text", "text": "…" }.',
    );
  }
  return { model, role, content, ...(stopReason === undefined ? {} : { stopReason }) };
}

function isContent(content: unknown): content is CreateMessageResult["content"] {
  return Array.isArray(content) ? content.length > 0 && content.every(isSamplingContent) : isSamplingContent(content);
}

function invalidParams(message: string, fix: string): McpError {
  return new McpError("invalid_params", message, { fix });
}
