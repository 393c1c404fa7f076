import { printable } from "@parley/mcp/protocol";
import { useState } from "preact/hooks";
import type { InspectorState } from "../../src/contract/inspector-state.js";
import type { QuestionInfo } from "../../src/contract/questions.js";
import { inspectorState } from "../backend/page-state.js";
import { Dialog } from "../parts/dialog.js";
import { FormQuestion } from "./form-question.js";
import { SamplingQuestion } from "./sampling-question.js";
import { UrlQuestion } from "./url-question.js";

/** The questions of servers that wait for an answer. Put aside, they stay behind a button until another comes. */
export function QuestionsPanel() {
  const state = inspectorState.value;
  const questions = state?.questions ?? [];
  const [aside, setAside] = useState<readonly string[]>([]);
  const [chosen, setChosen] = useState<string>();
  const [first] = questions;
  if (state === undefined || first === undefined) return null;
  if (questions.every(({ id }) => aside.includes(id))) {
    return (
      <button type="button" class="main questions-aside" onClick={() => setAside([])}>
        {questions.length === 1 ? "1 question waits" : `${questions.length} questions wait`}
      </button>
    );
  }
  const shown = questions.find(({ id }) => id === chosen) ?? first;
  return (
    <Dialog title={titleOf(shown, state)} onClose={() => setAside(questions.map(({ id }) => id))}>
      <div class="questions">
        {questions.length > 1 && (
          <ul class="questions-list" aria-label="Questions that wait">
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

const KINDS = { form: "Form", url: "Page to visit", sampling: "Question to a model" } as const;

/** Characters of a message in the name of a question. */
const MOST_WORDS = 40;

/** What a question is called among others. */
function nameOf(info: QuestionInfo, state: InspectorState): string {
  const { kind, params } = info.question;
  const words = kind === "sampling" ? "" : printable(params.message).replaceAll("\n", " ");
  const short = words.length <= MOST_WORDS ? words : `${words.slice(0, MOST_WORDS)}…`;
  return `${KINDS[kind]} of ${serverOf(info, state)}${short === "" ? "" : `: ${short}`}`;
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
