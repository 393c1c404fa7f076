import type { CreateMessageRequestParams, CreateMessageResult } from "@parley/mcp/protocol";
import { useLayoutEffect, useState } from "preact/hooks";
import type { QuestionInfo } from "../../src/contract/questions.js";
import { inspectorState } from "../backend/page-state.js";
import { isJsonObject } from "../forms/model/json-members.js";
import { SchemaForm } from "../forms/schema-form.js";
import { JsonTree } from "../parts/json-tree.js";
import { ProblemNote } from "../parts/problem-note.js";
import { membersIn } from "../results/content-view.js";
import { MessageView } from "../results/message-view.js";
import { TextView } from "../results/text-view.js";
import { useCachedState } from "../use/use-cached-state.js";
import { type AnswerAction, useAnswer } from "./answer-question.js";
import { FIRST_SAMPLE, SAMPLE_SCHEMA } from "./sample-schema.js";

interface SamplingQuestionProps {
  readonly info: QuestionInfo;
  readonly params: CreateMessageRequestParams;
  readonly draft?: CreateMessageResult | undefined;
  readonly command?: "running" | "failed" | undefined;
}

/**
 * A sampling request. The user answers by hand, or lets the configured command draft an answer and reviews the draft
 * before sending it.
 */
export function SamplingQuestion({ info, params, draft, command }: SamplingQuestionProps) {
  const [value, setValue] = useCachedState<unknown>(`question ${info.id}`, () => draft ?? FIRST_SAMPLE);
  const [broken, setBroken] = useState(false);
  const { answer, busy, problem } = useAnswer(info);
  // Separate from the answer: a command may take long, and the user may answer or decline meanwhile.
  const drafting = useAnswer(info);
  const failure = problem ?? drafting.problem;
  const drafted = draft === undefined ? undefined : JSON.stringify(draft);
  const [taken, setTaken] = useCachedState(`draft of ${info.id}`, () => drafted);
  useLayoutEffect(() => {
    // Applies each draft only once, so that the user's changes survive while the question is dismissed. A layout effect
    // applies the draft before the next key, so that the draft does not overwrite typed text.
    if (drafted === undefined || drafted === taken) return;
    setTaken(drafted);
    setValue(JSON.parse(drafted));
  });
  const send = () => {
    // The inspector validates the value and rejects anything that is not a sampling result.
    if (isJsonObject(value)) answer({ action: "sample", result: value as unknown as CreateMessageResult });
  };
  return (
    <div class="questions-body">
      <SamplingRequest params={params} />
      <h3>Your answer{draft !== undefined && ", drafted by the command"}</h3>
      <SchemaForm
        schema={SAMPLE_SCHEMA}
        value={value}
        onChange={setValue}
        idPrefix={`question-${info.id}`}
        onBroken={setBroken}
      />
      {command === "failed" && <p class="forms-issue">The command failed.</p>}
      {failure !== undefined && <ProblemNote problem={failure} />}
      <div class="parts-actions">
        <button
          type="button"
          class="main"
          disabled={broken || !isJsonObject(value)}
          aria-disabled={busy}
          onClick={send}
        >
          Send
        </button>
        {inspectorState.value?.modelCommand === true && <DraftButton drafting={drafting} command={command} />}
        <button type="button" aria-disabled={busy} onClick={() => answer({ action: "decline" })}>
          Decline
        </button>
      </div>
    </div>
  );
}

interface DraftButtonProps extends Pick<SamplingQuestionProps, "command"> {
  readonly drafting: AnswerAction;
}

function DraftButton({ drafting, command }: DraftButtonProps) {
  return (
    <button
      type="button"
      disabled={command === "running"}
      aria-disabled={drafting.busy}
      onClick={() => drafting.answer({ action: "run-command" })}
    >
      {command === "running" ? "The command is running…" : "Let the command draft an answer"}
    </button>
  );
}

/** Number of messages displayed at first. A button shows the rest. */
const SHOWN = 50;

function SamplingRequest({ params }: { readonly params: CreateMessageRequestParams }) {
  const { messages, systemPrompt, tools, ...preferences } = params;
  const [all, setAll] = useState(false);
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  return (
    <div class="questions-asked">
      {systemPrompt !== undefined && (
        <section aria-label="System prompt">
          <h3>System prompt</h3>
          <TextView text={String(systemPrompt)} />
        </section>
      )}
      <section aria-label="Messages">
        <h3>Messages</h3>
        {list.slice(0, all ? list.length : SHOWN).map((message, index) => (
          <MessageView key={index} message={membersIn(message)} />
        ))}
        {!all && list.length > SHOWN && (
          <button type="button" onClick={() => setAll(true)}>
            Show {list.length - SHOWN} more messages
          </button>
        )}
      </section>
      {tools !== undefined && <JsonTree value={tools} label="Tools for the model" />}
      <JsonTree value={preferences} label="Preferences" />
    </div>
  );
}
