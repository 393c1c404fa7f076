import { type Client, McpError } from "@parley/mcp";
import type { CreateMessageResult, ElicitResult, ListRootsResult } from "@parley/mcp/protocol";
import type { Invocation } from "../commands/command.js";
import { type OpenOptions, openTarget } from "../target/open-target.js";
import { takeTarget } from "../target/target.js";
import { EXIT, type ExitCode } from "../terminal/exit-code.js";
import { show } from "../terminal/shown.js";
import type { Terminal } from "../terminal/terminal.js";
import { UsageError } from "../terminal/usage-error.js";
import { exchangesOf, type RecordedExchange, type RecordedOutcome } from "./recorded-exchanges.js";
import { recordedCapabilities } from "./recorded-handshake.js";
import { LIST_MEMBERS } from "./recorded-lists.js";
import { isRecord, type Recording } from "./recording.js";
import { AnswerWatch, callsOf, judge, type RecordedCall, type ReplayVerdict, refusalOf } from "./replay-against.js";
import { requestLine } from "./request-matcher.js";

/** Sends the requests of a recording to a server, in order, and tells what is answered differently. */
export async function replayAgainstTarget(recording: Recording, invocation: Invocation): Promise<ExitCode> {
  const { options, terminal } = invocation;
  const against = options.text("against");
  const [target] = await takeTarget({ ...invocation, words: against === undefined ? [] : [against] });
  const exchanges = exchangesOf(recording);
  const calls = callsOf(exchanges);
  if (calls.length === 0) throw new UsageError("the recording has no request to send", "Record a session with calls.");
  const answers = new RecordedAnswers(recordedRoots(exchanges));
  const declared = recordedCapabilities(recording.messages);
  const watch = new AnswerWatch();
  await using client = await openTarget(target, invocation, { ...answers.options(declared), onMessage: watch.watch });
  const readOnly = options.flag("all") ? () => true : await readOnlyTools(client);
  const verdicts: ReplayVerdict[] = [];
  for (const call of calls) {
    terminal.io.signal.throwIfAborted();
    const reason = refusalOf(call, readOnly);
    const verdict: ReplayVerdict =
      reason === undefined
        ? judge(call, await send(call, client, answers, watch, terminal), options.many("ignore"))
        : { method: call.method, params: call.params, verdict: "skipped", reason, differences: [] };
    verdicts.push(verdict);
    if (!terminal.json) printVerdict(verdict, terminal);
  }
  return summarize(verdicts, terminal);
}

async function readOnlyTools(client: Client): Promise<(tool: string) => boolean> {
  if (client.serverCapabilities.tools === undefined) return () => false;
  const names = new Set<string>();
  for await (const { name, annotations } of client.tools()) if (annotations?.readOnlyHint === true) names.add(name);
  return (tool) => names.has(tool);
}

async function send(
  call: RecordedCall,
  client: Client,
  answers: RecordedAnswers,
  watch: AnswerWatch,
  terminal: Terminal,
): Promise<RecordedOutcome | undefined> {
  const { method, params } = call;
  answers.begin(call);
  watch.take(method);
  const member = LIST_MEMBERS[method];
  const items: unknown[] = [];
  let cursor: unknown;
  for (let page = 0; page < MOST_PAGES; page++) {
    const asked = cursor === undefined ? params : { ...params, cursor };
    const tried = await client.tryRequest(method, asked, { signal: terminal.io.signal, cache: false });
    const outcome = watch.take(method);
    if (outcome === undefined && !tried.ok) return unanswered(tried.error);
    if (member === undefined || outcome === undefined || "error" in outcome) return outcome;
    const listed = outcome.result[member];
    if (Array.isArray(listed)) items.push(...listed);
    cursor = outcome.result["nextCursor"];
    if (cursor === undefined) break;
  }
  return { result: { [member ?? ""]: items } };
}

/** The client does not ask a server for what it does not offer; everything else without an answer is a failure. */
function unanswered(error: McpError): RecordedOutcome {
  if (error.kind !== "capability_missing") throw error;
  return { error: { code: METHOD_NOT_FOUND, message: error.message } };
}

const METHOD_NOT_FOUND = -32601;
/** A list that never ends is cut here, and differs. */
const MOST_PAGES = 1_000;

/** The folders that the recorded client told; servers also ask for them between calls. */
function recordedRoots(exchanges: readonly RecordedExchange[]): ListRootsResult["roots"] {
  const steps = exchanges.flatMap((exchange) => [...exchange.steps, ...exchange.after]);
  const question = steps.find(
    (step) => step.kind === "question" && step.method === "roots/list" && isRecord(step.answer),
  );
  const result = question?.kind === "question" ? question.answer?.["result"] : undefined;
  const roots: unknown = isRecord(result) ? result["roots"] : undefined;
  // As above: the form was the protocol's when it was recorded.
  return Array.isArray(roots) ? (roots as ListRootsResult["roots"]) : [];
}

/** Answers questions of the server as the recorded client did. */
class RecordedAnswers {
  readonly #roots: ListRootsResult["roots"];
  #left: RecordedCall["answers"][number][] = [];

  constructor(roots: ListRootsResult["roots"]) {
    this.#roots = roots;
  }

  /** The questions of this call come next. */
  begin({ answers }: RecordedCall): void {
    this.#left = [...answers];
  }

  /** What declares the same as the recorded client did, and answers as it did. */
  options({ elicitation, sampling, roots }: Readonly<Record<string, unknown>>): OpenOptions {
    const elicitUrls = isRecord(elicitation) && "url" in elicitation;
    // What was recorded as an answer of a client was one of the form that the protocol has.
    return {
      ...(elicitation === undefined
        ? {}
        : { onElicit: () => this.#next("elicitation/create") as unknown as ElicitResult, elicitUrls }),
      ...(sampling === undefined
        ? {}
        : { onSample: () => this.#next("sampling/createMessage") as unknown as CreateMessageResult }),
      ...(roots === undefined ? {} : { roots: this.#roots }),
    };
  }

  #next(method: string): Record<string, unknown> {
    const at = this.#left.findIndex((answer) => answer.method === method);
    const [found] = at < 0 ? [] : this.#left.splice(at, 1);
    if (found !== undefined) return found.result;
    throw new McpError("declined", `the recording has no further answer to ${method}`);
  }
}

function printVerdict({ method, params, verdict, reason, differences }: ReplayVerdict, terminal: Terminal): void {
  const { style } = terminal;
  const colour = { same: style.green, different: style.red, skipped: style.yellow }[verdict];
  terminal.print(show`${colour(verdict.padEnd(9))}  ${requestLine(method, params)}`);
  if (reason !== undefined) terminal.print(show`           ${style.dim(reason)}`);
  for (const { path, recorded, now } of differences) {
    terminal.print(show`           ${style.bold(path === "" ? "the result" : path)}`);
    terminal.print(show`           ${style.red("-")} ${shortJson(recorded)}`);
    terminal.print(show`           ${style.green("+")} ${shortJson(now)}`);
  }
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 500 ? `${text.slice(0, 499)}…` : text;
}

function summarize(verdicts: readonly ReplayVerdict[], terminal: Terminal): ExitCode {
  const count = (wanted: ReplayVerdict["verdict"]) => verdicts.filter(({ verdict }) => verdict === wanted).length;
  const [same, different, skipped] = [count("same"), count("different"), count("skipped")];
  if (terminal.json) terminal.printJson({ same, different, skipped, requests: verdicts });
  else terminal.print(show`${same} same, ${different} different, ${skipped} skipped`);
  return different === 0 ? EXIT.ok : EXIT.findings;
}
