import type { CreateMessageResult } from "@parley/mcp/protocol";
import type { ActionHandlers } from "../contract/actions.js";
import type { QuestionAnswer } from "../contract/questions.js";
import { choiceOf, optionalRecordOf, recordOf, textOf } from "../engine/read-input.js";
import type { PendingQuestions } from "./pending-questions.js";

const ACTIONS = [
  "accept",
  "decline",
  "cancel",
  "sample",
  "run-command",
] as const satisfies readonly QuestionAnswer["action"][];

/** Creates the actions for questions. */
export function questionActions(questions: PendingQuestions): Pick<ActionHandlers, "answer"> {
  return {
    answer: async (input) => {
      await questions.answer(textOf(input, "question"), readAnswer(recordOf(input, "answer")));
      return {};
    },
  };
}

/** Reads an answer of the page. `PendingQuestions` validates its content. */
function readAnswer(input: object): QuestionAnswer {
  const action = choiceOf(input, "action", ACTIONS);
  switch (action) {
    case "accept":
      // Safe: `PendingQuestions` rejects values of other types when it validates the form.
      return { action, content: (optionalRecordOf(input, "content") ?? {}) as never };
    case "sample":
      // Safe: `PendingQuestions` validates the result before sending it.
      return { action, result: recordOf(input, "result") as unknown as CreateMessageResult };
    default:
      return { action };
  }
}
