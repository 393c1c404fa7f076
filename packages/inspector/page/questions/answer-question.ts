import type { QuestionAnswer, QuestionInfo } from "../../src/contract/questions.js";
import { act } from "../backend/act.js";
import type { FieldIssue } from "../forms/form-context.js";
import { type RunningAction, useAction } from "../parts/use-action.js";
import { membersIn, textIn } from "../results/content-view.js";

/** Sends the answer to a question and holds the problem of the last attempt. */
export interface AnswerAction extends Pick<RunningAction, "problem" | "busy"> {
  answer(answer: QuestionAnswer): void;
}

/** Returns the action that answers a question. */
export function useAnswer({ id }: QuestionInfo): AnswerAction {
  const { run, busy, problem } = useAction();
  const send = (answer: QuestionAnswer) => {
    // Ignores a second press. The buttons use `aria-disabled`, because a disabled button would lose the focus.
    if (!busy) run(() => act("answer", { question: id, answer }));
  };
  return { problem, busy, answer: send };
}

/** Extracts the issues of single fields from the data of a rejected answer. */
export function issuesIn(data: unknown): readonly FieldIssue[] {
  const { issues } = membersIn(data);
  if (!Array.isArray(issues)) return [];
  return issues.flatMap((issue) => {
    const members = membersIn(issue);
    const message = textIn(members, "message");
    return message === undefined ? [] : [{ path: textIn(members, "path") ?? "", message }];
  });
}
