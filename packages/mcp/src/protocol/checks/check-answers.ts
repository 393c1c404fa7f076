import { isObject } from "../../jsonrpc/message.js";
import { type ElicitResult, isElicitValue } from "../features/elicitation.js";
import type { InputRequiredResult } from "../features/input.js";
import type { ListRootsResult, Root } from "../features/roots.js";
import { type CreateMessageResult, isSamplingContent } from "../features/sampling.js";
import type { CheckedResult } from "./results.js";
import { anArray, anObject, aString, oneOf, readItems, readShape, type Shape, type Test } from "./shape.js";

const formAnswers: Test = {
  expected: "an object of strings, numbers, booleans and lists of strings",
  passes: (value) => isObject(value) && Object.values(value).every(isElicitValue),
};

const samplingContent: Test = {
  expected: "a content block or a list of them",
  passes: (value) => (Array.isArray(value) ? value.every(isSamplingContent) : isSamplingContent(value)),
};

/** Reads a client's answer to `elicitation/create`. */
export function checkElicitResult(value: unknown): CheckedResult<ElicitResult> {
  const problems: string[] = [];
  const shape: Shape<ElicitResult> = {
    required: { action: oneOf("accept", "decline", "cancel") },
    optional: { content: formAnswers, _meta: anObject },
  };
  return { result: readShape(value, shape, "the answer", problems), problems };
}

/** Reads a client's answer to `sampling/createMessage`. */
export function checkCreateMessageResult(value: unknown): CheckedResult<CreateMessageResult> {
  const problems: string[] = [];
  const shape: Shape<CreateMessageResult> = {
    required: { role: oneOf("user", "assistant"), content: samplingContent, model: aString },
    optional: { stopReason: aString, _meta: anObject },
  };
  return { result: readShape(value, shape, "the answer", problems), problems };
}

/** Reads a client's answer to `roots/list`. Drops invalid roots. */
export function checkListRootsResult(value: unknown): CheckedResult<ListRootsResult> {
  const problems: string[] = [];
  const shape: Shape<ListRootsResult> = { required: { roots: anArray }, optional: { _meta: anObject } };
  const result = readShape<ListRootsResult>(value, shape, "the answer", problems);
  if (result === undefined) return { result, problems };
  const rootShape: Shape<Root> = { required: { uri: aString }, optional: { name: aString, _meta: anObject } };
  const before = problems.length;
  const roots = readItems(result.roots, (root, index) => readShape(root, rootShape, `roots[${index}]`, problems));
  return { result: problems.length === before ? result : { ...result, roots }, problems };
}

const QUESTIONS: { readonly [method: string]: Shape<{ [key: string]: unknown }> } = {
  "elicitation/create": { required: { message: aString } },
  "sampling/createMessage": { required: { messages: anArray } },
};

/**
 * Reads an interim result. A single invalid question makes the whole result unusable: the server expects an answer to
 * each question, and would repeat the questions that have no answer.
 *
 * Spec: Multi Round-Trip Requests, https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export function checkInputRequiredResult(value: unknown): CheckedResult<InputRequiredResult> {
  const problems: string[] = [];
  const shape: Shape<InputRequiredResult> = { required: { resultType: oneOf("input_required") } };
  const result = readShape<InputRequiredResult>(value, shape, "the result", problems);
  if (result === undefined) return { result, problems };
  const { inputRequests, requestState } = result;
  if (inputRequests === undefined && requestState === undefined) {
    problems.push("the result has neither inputRequests nor requestState");
  }
  if (requestState !== undefined && typeof requestState !== "string") problems.push("requestState is not a string");
  if (inputRequests !== undefined) checkQuestions(inputRequests, problems);
  return { result: problems.length === 0 ? result : undefined, problems };
}

function checkQuestions(questions: unknown, problems: string[]): void {
  if (!isObject(questions)) {
    problems.push("inputRequests is not an object");
    return;
  }
  for (const [key, question] of Object.entries(questions)) {
    const at = `inputRequests[${JSON.stringify(key)}]`;
    if (!isObject(question)) {
      problems.push(`${at} is not an object`);
    } else if (question.method === "roots/list") {
      if (question.params !== undefined && !isObject(question.params)) problems.push(`${at}.params is not an object`);
    } else if (typeof question.method === "string" && Object.hasOwn(QUESTIONS, question.method)) {
      const shape = QUESTIONS[question.method];
      if (shape !== undefined) readShape(question.params, shape, `${at}.params`, problems);
    } else {
      problems.push(`${at}.method is not a method that a server may send`);
    }
  }
}
