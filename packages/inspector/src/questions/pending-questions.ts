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

/** How much may wait for the user. Everything here is part of the state, which is sent as a whole after each change. */
export interface QuestionLimits {
  /** Questions that wait at the same time. Default 64. */
  questions: number;
  /** Bytes of one question, or of the draft of its answer. Default 1 MiB. */
  bytes: number;
  /** Bytes of all questions and drafts together. Default 4 MiB. */
  totalBytes: number;
}

const DEFAULT_LIMITS: QuestionLimits = { questions: 64, bytes: 1024 * 1024, totalBytes: 4 * 1024 * 1024 };

/** Answers for a model: the command that the terminal configured. */
type AnswerForModel = (params: CreateMessageRequestParams, signal: AbortSignal) => Promise<CreateMessageResult>;

/** What questions are asked with. */
interface PendingQuestionsOptions {
  /** Milliseconds since the inspector began. */
  now(): number;
  /** Called after every change of `list()`. */
  changed(): void;
  /** The call of a connection in whose course a question is asked, if that is known. */
  callOf(connection: string): string | undefined;
  model?: AnswerForModel | undefined;
  limits?: Partial<QuestionLimits> | undefined;
}

interface Pending {
  info: QuestionInfo;
  bytes: number;
  readonly signal: AbortSignal;
  /** Gives the answer to the server and ends the question. */
  readonly resolve: (answer: ElicitResult | CreateMessageResult) => void;
  readonly reject: (error: McpError) => void;
}

/** The questions of all servers that wait for the user. */
export class PendingQuestions {
  readonly #options: PendingQuestionsOptions;
  readonly #limits: QuestionLimits;
  readonly #pending = new Map<string, Pending>();
  #last = 0;

  constructor(options: PendingQuestionsOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  /** What the client of a connection is opened with: every question waits for the page, until its signal is aborted. */
  answerers(connection: string): Pick<ClientOptions, "onElicit" | "onSample"> {
    return {
      onElicit: (params, { signal }) => this.#ask<ElicitResult>(connection, elicitation(params), signal),
      onSample: (params, { signal }) =>
        this.#ask<CreateMessageResult>(connection, { kind: "sampling", params }, signal),
    };
  }

  /** All that wait, the oldest first. */
  list(): readonly QuestionInfo[] {
    return [...this.#pending.values()].map(({ info }) => info);
  }

  /**
   * Answers a question, or lets the configured command draft the answer. Throws `invalid_params` for a question that is over, and
   * for an answer that does not fit; the question then goes on waiting.
   */
  async answer(id: string, answer: QuestionAnswer): Promise<void> {
    const pending = this.#find(id);
    const { question } = pending.info;
    if (answer.action === "run-command") return this.#draft(pending);
    if (question.kind !== "sampling") return pending.resolve(elicitResult(question, answer));
    if (answer.action === "sample") return pending.resolve(checkedSample(answer.result));
    if (answer.action === "decline") return pending.reject(new McpError("declined", "the user declined to answer"));
    if (answer.action === "cancel") return pending.reject(new McpError("dismissed", "the user did not answer"));
    throw unfit(answer.action, "a question to a model");
  }

  #ask<R extends ElicitResult | CreateMessageResult>(
    connection: string,
    question: QuestionInfo["question"],
    signal: QuestionContext["signal"],
  ): Promise<R> {
    const bytes = jsonBytes(question);
    this.#refuseTooMuch(bytes);
    const id = `question-${++this.#last}`;
    const call = this.#options.callOf(connection);
    const asked = { id, connection, askedMs: this.#options.now(), question };
    const info: QuestionInfo = call === undefined ? asked : { ...asked, call };
    return new Promise<R>((resolve, reject) => {
      const over = () => {
        signal.removeEventListener("abort", unwanted);
        this.#pending.delete(id);
        this.#options.changed();
      };
      const unwanted = () => fail(new McpError("cancelled", "the server no longer waits for this answer"));
      const fail = (error: McpError) => {
        over();
        reject(error);
      };
      // Safe: `answer` gives each kind of question its own kind of answer.
      const succeed = (answer: ElicitResult | CreateMessageResult) => {
        over();
        resolve(answer as R);
      };
      if (signal.aborted) return unwanted();
      signal.addEventListener("abort", unwanted, { once: true });
      this.#pending.set(id, { info, bytes, signal, resolve: succeed, reject: fail });
      this.#options.changed();
    });
  }

  async #draft(pending: Pending): Promise<void> {
    const { question } = pending.info;
    const { model } = this.#options;
    if (question.kind !== "sampling") throw unfit("run-command", "a form or a page");
    if (model === undefined) {
      throw new McpError("invalid_params", "no command is configured that answers for a model", {
        fix: "Answer by hand, or start the inspector with such a command.",
      });
    }
    if (question.command === "running") {
      throw new McpError("invalid_params", "the command is running already", { fix: "Wait until it has answered." });
    }
    const { params } = question;
    this.#change(pending, { kind: "sampling", params, command: "running" });
    try {
      const draft = checkedSample(await model(params, pending.signal));
      this.#refuseTooMuch(jsonBytes(draft), 0);
      this.#change(pending, { kind: "sampling", params, draft });
    } catch (error) {
      this.#change(pending, { kind: "sampling", params, command: "failed" });
      throw error;
    }
  }

  #change(pending: Pending, question: QuestionInfo["question"]): void {
    pending.info = { ...pending.info, question };
    pending.bytes = jsonBytes(question);
    this.#options.changed();
  }

  #refuseTooMuch(bytes: number, more = 1): void {
    const { questions, bytes: one, totalBytes } = this.#limits;
    const held = [...this.#pending.values()].reduce((sum, pending) => sum + pending.bytes, bytes);
    const passed =
      this.#pending.size + more > questions
        ? `${questions} questions wait already`
        : bytes > one
          ? `it has more than ${one} bytes`
          : held > totalBytes
            ? `those that wait have ${totalBytes} bytes`
            : undefined;
    if (passed === undefined) return;
    throw new McpError("limit_exceeded", `the question cannot be shown: ${passed}`, {
      fix: "Answer the questions that wait, or let the server ask for less.",
    });
  }

  #find(id: string): Pending {
    const pending = this.#pending.get(id);
    if (pending !== undefined) return pending;
    throw new McpError("invalid_params", "this question no longer waits for an answer", {
      fix: "Look at the questions that are there now.",
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
  if (answer.action === "sample") throw unfit("sample", "a form or a page");
  if (answer.action !== "accept" || question.kind === "url") return { action: answer.action };
  return { action: "accept", content: checkedContent(question.params.requestedSchema, answer.content ?? {}) };
}

function unfit(action: string, question: string): McpError {
  return new McpError("invalid_params", `"${action}" is no answer to ${question}`, {
    fix: "Answer what is asked, or decline.",
  });
}

/** What is wrong with a form, and at which of its fields. */
interface FormIssue {
  /** A JSON pointer; empty for the form as a whole. */
  readonly path: string;
  readonly message: string;
}

/**
 * The content of a form as it is sent: defaults fill what was left out. Throws `invalid_params` for content that does not fit, with
 * a `FormIssue` for each place in `data.issues`.
 */
export function checkedContent(
  schema: unknown,
  content: Readonly<Record<string, unknown>>,
): Record<string, ElicitValue> {
  const filled = withDefaults(schema, content);
  const issues = formIssues(schema, filled).map((issue) => placed(issue, namesOf(schema, filled)));
  if (issues.length === 0) return filled;
  throw new McpError("invalid_params", `the answer does not fit the form: ${issues.map(sentence).join("; ")}`, {
    data: { issues },
    fix: "Correct the fields that are named, and send the form again.",
  });
}

function withDefaults(schema: unknown, content: Readonly<Record<string, unknown>>): Record<string, ElicitValue> {
  const defaults = Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    const value = isRecord(property) ? property["default"] : undefined;
    return Object.hasOwn(content, name) || !isElicitValue(value) ? [] : [[name, value] as const];
  });
  // Without issues, which are looked for next, every value is an `ElicitValue`.
  return Object.fromEntries([...Object.entries(content), ...defaults]) as Record<string, ElicitValue>;
}

function namesOf(schema: unknown, content: object): readonly string[] {
  const names = [...Object.keys(propertiesOf(schema)), ...Object.keys(content)];
  // The longest first: the name of one field may be the beginning of another's.
  return [...new Set(names)].sort((a, b) => b.length - a.length);
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = isRecord(schema) ? schema["properties"] : undefined;
  return isRecord(properties) ? properties : {};
}

/** Names of fields may hold spaces, so that the place is found by them and not by its end. */
function placed(issue: string, names: readonly string[]): FormIssue {
  for (const name of names) {
    const quoted = JSON.stringify(name);
    const path = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (issue === `must have the property ${quoted}`) return { path, message: "must be given" };
    if (issue === `must not have the property ${quoted}`) return { path, message: "is not asked for" };
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
  return `${path} ${message}`.trim();
}

/** What a model answered, as the page or the configured command gave it. Throws `invalid_params` for what is no such answer. */
function checkedSample(given: object): CreateMessageResult {
  const model = textOf(given, "model");
  const role = textOf(given, "role");
  const stopReason = optionalTextOf(given, "stopReason");
  const { content } = given as { content?: unknown };
  if (role !== "assistant" && role !== "user") throw refusal("`role` is nobody's", 'Send "assistant".');
  if (!isContent(content)) {
    throw refusal("`content` is no content of a message", 'Send a block such as { "type": "text", "text": "…" }.');
  }
  return { model, role, content, ...(stopReason === undefined ? {} : { stopReason }) };
}

function isContent(content: unknown): content is CreateMessageResult["content"] {
  return Array.isArray(content) ? content.length > 0 && content.every(isSamplingContent) : isSamplingContent(content);
}

function refusal(message: string, fix: string): McpError {
  return new McpError("invalid_params", message, { fix });
}
