import type { Outcome, OutgoingCall } from "../../era/era.js";
import { onAbort } from "../../platform/on-abort.js";
import { pause } from "../../platform/pause.js";
import { McpError } from "../../protocol/error.js";
import type { Answerer } from "../answers/answerer.js";
import type { ClientConnection } from "../connection/connection.js";
import type { PendingCall } from "./pending-call.js";

/**
 * Default limits per call. Beyond them, the call rejects. A model or a person answers each question, so the server must
 * not decide how many there are.
 */
const MAX_ROUNDS = 10;
const MAX_QUESTIONS = 64;
/**
 * The wait after a round without questions. Doubles with each such round, up to `MAX_WAIT_MS`. Short, so that
 * `maxRounds` ends the call soon.
 */
const FIRST_WAIT_MS = 25;
const MAX_WAIT_MS = 250;

/**
 * Answers a round of questions from a server's result. Returns the answers for the next request, with the server's
 * state unchanged. Rejects if a question cannot be answered. `signal` ends the wait for answers.
 *
 * Spec: Multi Round-Trip Requests, "Client Requirements (Basic Workflow)",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow
 */
export async function answerRound(
  connection: ClientConnection,
  answerer: Answerer,
  call: PendingCall,
  { questions, state }: Outcome & { kind: "input" },
  signal: AbortSignal,
): Promise<NonNullable<OutgoingCall["inputs"]>> {
  const echoed = state === undefined ? {} : { state };
  const keys = Object.keys(questions);
  call.rounds++;
  call.questions += keys.length;
  const { maxRounds = MAX_ROUNDS, maxQuestions = MAX_QUESTIONS } = connection.options;
  if (call.rounds > maxRounds) throw tooMany(call, "maxRounds", maxRounds, "rounds of questions");
  if (call.questions > maxQuestions) throw tooMany(call, "maxQuestions", maxQuestions, "questions");
  if (keys.length === 0) {
    const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(call.emptyRounds, 10));
    call.emptyRounds++;
    await pause(connection.platform, wait, signal, true);
    return echoed;
  }
  call.emptyRounds = 0;
  for (const [key, question] of Object.entries(questions)) {
    try {
      answerer.check(question);
    } catch (error) {
      throw askedWrongly(call, key, error);
    }
  }
  const asking = call.connection ?? connection.established;
  const answers: Promise<object>[] = [];
  for (const question of Object.values(questions)) {
    // One controller per question: applications listen to their signal, and runtimes warn about many listeners on one.
    const unwanted = new AbortController();
    onAbort(signal, () => unwanted.abort(signal.reason));
    answers.push(answerer.answer(question, asking, unwanted));
  }
  const given = await Promise.all(answers);
  return { responses: Object.fromEntries(keys.map((key, index) => [key, given[index]])), ...echoed };
}

function tooMany({ out }: PendingCall, limit: "maxRounds" | "maxQuestions", value: number, what: string): McpError {
  return new McpError("limit_exceeded", `${out.method} asked more than ${value} ${what}`, {
    data: { limit, value },
    fix: `Raise \`${limit}\` in \`connect\`, or look at what the server keeps asking.`,
  });
}

/** The error for an undeclared or malformed question, which makes the whole result invalid. */
function askedWrongly({ out }: PendingCall, key: string, error: unknown): McpError {
  const { message } = McpError.from(error);
  return new McpError("invalid_response", `${out.method} contains the invalid question "${key}": ${message}`, {
    cause: error,
    fix: "Pass the handler to `connect`, or report it to the author of the server.",
  });
}
