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

/** The user wants to hear no more of what a connection asked up to a time, in milliseconds since the inspector began. */
interface PutAside {
  readonly connection: string;
  readonly ms: number;
}

/** Puts the questions that wait aside, and what their connections ask of their own accord from now on. */
export function putAside(questions: readonly QuestionInfo[]): readonly PutAside[] {
  const ms = Math.max(...questions.map(({ askedMs }) => askedMs));
  return [...new Set(questions.map(({ connection }) => connection))].map((connection) => ({ connection, ms }));
}

/**
 * Whether a question stays aside. One of a call that the user started since does not; otherwise a server that withdraws its questions
 * and asks again could keep the user from everything else.
 */
export function isAside(question: QuestionInfo, aside: readonly PutAside[], calls: readonly CallInfo[]): boolean {
  const put = aside.find(({ connection }) => connection === question.connection);
  if (put === undefined) return false;
  const call = calls.find(({ id }) => id === question.call);
  return call === undefined || call.startedMs <= put.ms;
}

/** The questions of servers that wait for an answer. Put aside, they stay behind a button until another server or call asks. */
export function QuestionsPanel() {
  const state = inspectorState.value;
  const questions = state?.questions ?? [];
  const [aside, setAside] = useState<readonly PutAside[]>([]);
  const [chosen, setChosen] = useState<string>();
  const [first] = questions;
  if (state === undefined || first === undefined) return null;
  if (questions.every((question) => isAside(question, aside, state.calls))) {
    return (
      <button type="button" class="main questions-aside" onClick={() => setAside([])}>
        {questions.length === 1 ? "1 question waits" : `${questions.length} questions wait`}
      </button>
    );
  }
  const shown = questions.find(({ id }) => id === chosen) ?? first;
  return (
    <Dialog title={titleOf(shown, state)} onClose={() => setAside(putAside(questions))}>
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
