import { printable } from "@parley/mcp/protocol";
import { useState } from "preact/hooks";
import type { CallInfo } from "../../src/contract/calls.js";
import type { InspectorState } from "../../src/contract/inspector-state.js";
import type { QuestionInfo } from "../../src/contract/questions.js";
import { inspectorState } from "../backend/page-state.js";
import { Dialog } from "../parts/dialog.js";
import { FormQuestion } from "./form-question.js";
import { SamplingQuestion } from "./sampling-question.js";
import { UrlQuestion } from "./url-question.js";

/**
 * The dismissal of one connection's questions. `ms` is the time of the last dismissed question, in milliseconds since
 * the start of the inspector.
 */
interface Dismissal {
  readonly connection: string;
  readonly ms: number;
}

/**
 * Dismisses the waiting questions and later questions from the same connections, except those asked during new calls.
 */
export function dismissQuestions(questions: readonly QuestionInfo[]): readonly Dismissal[] {
  const ms = Math.max(...questions.map(({ askedMs }) => askedMs));
  return [...new Set(questions.map(({ connection }) => connection))].map((connection) => ({ connection, ms }));
}

/**
 * True if a question stays dismissed. A question asked during a call that the user started later is shown. All other
 * questions stay dismissed; otherwise a server could block the user by repeating its questions.
 */
export function isDismissed(question: QuestionInfo, aside: readonly Dismissal[], calls: readonly CallInfo[]): boolean {
  const put = aside.find(({ connection }) => connection === question.connection);
  if (put === undefined) return false;
  const call = calls.find(({ id }) => id === question.call);
  return call === undefined || call.startedMs <= put.ms;
}

/** The questions that wait for an answer. If all of them are dismissed, shows only a button that opens them again. */
export function QuestionsPanel() {
  const state = inspectorState.value;
  const questions = state?.questions ?? [];
  const [aside, setAside] = useState<readonly Dismissal[]>([]);
  const [chosen, setChosen] = useState<string>();
  const [first] = questions;
  if (state === undefined || first === undefined) return null;
  if (questions.every((question) => isDismissed(question, aside, state.calls))) {
    return (
      <button type="button" class="main questions-aside" onClick={() => setAside([])}>
        {questions.length === 1 ? "1 question is waiting" : `${questions.length} questions are waiting`}
      </button>
    );
  }
  const shown = questions.find(({ id }) => id === chosen) ?? first;
  return (
    <Dialog title={titleOf(shown, state)} onClose={() => setAside(dismissQuestions(questions))}>
      <div class="questions">
        {questions.length > 1 && (
          <ul class="questions-list" aria-label="Waiting questions">
            {questions.map((question, index) => (
              <li key={question.id}>
                <button type="button" aria-pressed={question.id === shown.id} onClick={() => setChosen(question.id)}>
                  {index + 1}. {nameOf(question, state)}
                </button>
              </li>
            ))}
          </ul>
        )}
        <p class="soft">{whenOf(shown, state)}</p>
        <Question key={shown.id} info={shown} />
      </div>
    </Dialog>
  );
}

const KINDS = { form: "Form", url: "Page to visit", sampling: "Sampling request" } as const;

/** Maximum number of characters of the message in the title of a question. The rest is cut off. */
const MAX_MESSAGE_LENGTH = 40;

/** The title of a question in the list. */
function nameOf(info: QuestionInfo, state: InspectorState): string {
  const { kind, params } = info.question;
  const words = kind === "sampling" ? "" : printable(params.message).replaceAll("\n", " ");
  const short = words.length <= MAX_MESSAGE_LENGTH ? words : `${words.slice(0, MAX_MESSAGE_LENGTH)}…`;
  return `${KINDS[kind]} from ${serverOf(info, state)}${short === "" ? "" : `: ${short}`}`;
}

function Question({ info }: { readonly info: QuestionInfo }) {
  const { question } = info;
  switch (question.kind) {
    case "form":
      return <FormQuestion info={info} params={question.params} />;
    case "url":
      return <UrlQuestion info={info} params={question.params} />;
    case "sampling":
      return (
        <SamplingQuestion info={info} params={question.params} draft={question.draft} command={question.command} />
      );
  }
}

function serverOf({ connection }: QuestionInfo, { connections }: InspectorState): string {
  const asking = connections.find(({ id }) => id === connection);
  return printable(asking?.server?.title ?? asking?.server?.name ?? asking?.target.shown ?? connection);
}

function titleOf(info: QuestionInfo, state: InspectorState): string {
  const asks = info.question.kind === "sampling" ? "asks a model" : "asks you";
  return `${serverOf(info, state)} ${asks}`;
}

function whenOf({ call, connection }: QuestionInfo, { calls, connections }: InspectorState): string {
  const during = calls.find(({ id }) => id === call);
  const target = printable(connections.find(({ id }) => id === connection)?.target.shown ?? "");
  return during === undefined ? `From ${target}` : `From ${target}, during ${during.kind} ${printable(during.name)}`;
}
