import type { QuestionAnswer, QuestionInfo } from "../../src/contract/questions.js";
import { act } from "../backend/act.js";
import type { FieldIssue } from "../forms/form-context.js";
import { type RunningAction, useAction } from "../parts/use-action.js";
import { membersIn, textIn } from "../results/content-view.js";

/** Sends an answer, and keeps what was wrong with it. */
export interface Answering extends Pick<RunningAction, "problem" | "busy"> {
  answer(answer: QuestionAnswer): void;
}

/** The way to answer one question. */
export function useAnswer({ id }: QuestionInfo): Answering {
  const { run, busy, problem } = useAction();
  const send = (answer: QuestionAnswer) => {
    // A second press. Buttons only say so meanwhile: the pressed one, if it were disabled, would lose the focus.
    if (!busy) run(() => act("answer", { question: id, answer }));
  };
  return { problem, busy, answer: send };
}

/** What a refusal says of single fields. */
export function issuesIn(data: unknown): readonly FieldIssue[] {
  const { issues } = membersIn(data);
  if (!Array.isArray(issues)) return [];
  return issues.flatMap((issue) => {
    const members = membersIn(issue);
    const message = textIn(members, "message");
    return message === undefined ? [] : [{ path: textIn(members, "path") ?? "", message }];
  });
}
