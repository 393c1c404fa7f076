import { type ElicitRequestFormParams, type ElicitValue, printable } from "@parley/mcp/protocol";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { QuestionInfo } from "../../src/contract/questions.js";
import { initialValue } from "../forms/model/initial-value.js";
import { isJsonObject } from "../forms/model/json-members.js";
import { SchemaForm } from "../forms/schema-form.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useCachedState } from "../use/use-cached-state.js";
import { issuesIn, useAnswer } from "./answer-question.js";
import { RefusalButtons } from "./refusal-buttons.js";

interface FormQuestionProps {
  readonly info: QuestionInfo;
  readonly params: ElicitRequestFormParams;
}

/** A form elicitation. Shows the issues of a rejected answer at its fields. */
export function FormQuestion({ info, params }: FormQuestionProps) {
  const schema = params.requestedSchema;
  // Cached, because the user may dismiss the question or answer another one first.
  const [value, setValue] = useCachedState<unknown>(`question ${info.id}`, () => initialValue(schema, schema) ?? {});
  const [broken, setBroken] = useState(false);
  const { answer, busy, problem } = useAnswer(info);
  const issues = issuesIn(problem?.data);
  const body = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // Focuses the first rejected field, which may be out of sight.
    if (problem !== undefined) body.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [problem]);
  const accept = () => {
    // The form may return an invalid value. The inspector validates it against the schema and rejects it with issues.
    if (isJsonObject(value) && !broken) answer({ action: "accept", content: value as Record<string, ElicitValue> });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the whole form; its button does the same
    <div
      ref={body}
      class="questions-body"
      onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && accept()}
    >
      <p class="questions-message">{printable(params.message)}</p>
      <SchemaForm
        schema={schema}
        value={value}
        onChange={setValue}
        issues={issues}
        idPrefix={`question-${info.id}`}
        onBroken={setBroken}
      />
      {problem !== undefined && (
        <ProblemNote problem={issues.length === 0 ? problem : { message: problem.message, fix: problem.fix }} />
      )}
      <div class="parts-actions">
        <button
          type="button"
          class="main"
          disabled={broken || !isJsonObject(value)}
          aria-disabled={busy}
          onClick={accept}
        >
          Accept
        </button>
        <RefusalButtons answer={answer} busy={busy} />
      </div>
    </div>
  );
}
