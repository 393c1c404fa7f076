import type { Outcome, OutgoingCall } from "../../era/era.js";
import { onAbort } from "../../platform/on-abort.js";
import { pause } from "../../platform/pause.js";
import { McpError } from "../../protocol/error.js";
import type { Answerer } from "../answers/answerer.js";
import type { ClientConnection } from "../connection/connection.js";
import type { PendingCall } from "./pending-call.js";

/** Of one call. A model or a person answers each question, so a server must not decide how many there are. */
const MAX_ROUNDS = 10;
const MAX_QUESTIONS = 64;
/** The wait after a round that asked nothing: doubles with each such round in a row. Short, so that `maxRounds` ends the call soon. */
const FIRST_WAIT_MS = 25;
const MAX_WAIT_MS = 250;

/**
 * Answers a round of questions that a server put into its result: gives what the next request has to carry. The state goes back as
 * it came. Rejects when an answer cannot be given; `signal` ends the wait for answers.
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
    // One controller for each: applications listen to their signal, and runtimes warn of many listeners on one.
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

/** A question that was not declared, or is malformed, makes the whole result invalid. */
function askedWrongly({ out }: PendingCall, key: string, error: unknown): McpError {
  const { message } = McpError.from(error);
  return new McpError("invalid_response", `${out.method} asks "${key}" wrongly: ${message}`, {
    cause: error,
    fix: "The server may ask only what this client declares; give the handler to `connect`, or tell its authors.",
  });
}
