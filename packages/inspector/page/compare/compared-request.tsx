import type { CallInfo, CallRequest } from "../../src/contract/calls.js";
import { act } from "../backend/act.js";
import { inspectorState } from "../backend/page-state.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";

/** A tool call under edit, or an earlier request that cannot be edited. */
export interface RequestDraft {
  readonly name: string;
  /** The arguments, as JSON. */
  readonly text: string;
  /** An earlier request that is not a tool call, or a tool call that runs as a task. Sent unchanged. */
  readonly other?: CallRequest | undefined;
}

/** Returns the request of a draft, or the reason why the draft is invalid. */
export function requestOf({ name, text, other }: RequestDraft): { request?: CallRequest; problem?: string } {
  if (other !== undefined) return { request: other };
  if (name === "") return { problem: "Enter the name of a tool, or choose an earlier call." };
  try {
    const args: unknown = JSON.parse(text);
    if (typeof args === "object" && args !== null && !Array.isArray(args))
      return { request: { kind: "tool", name, arguments: { ...args } } };
    return { problem: "The arguments must be a JSON object." };
  } catch (reason) {
    return { problem: `The arguments are not valid JSON: ${reason instanceof Error ? reason.message : reason}` };
  }
}

/** Maximum number of earlier calls in the menu, newest first. Older calls are omitted. */
const MAX_CALLS = 20;

interface ComparedRequestProps {
  readonly connection: string;
  readonly draft: RequestDraft;
  readonly onChange: (draft: RequestDraft) => void;
}

/** Selects the request to compare: an earlier call, or a tool and its arguments. */
export function ComparedRequest({ connection, draft, onChange }: ComparedRequestProps) {
  const action = useAction();
  const calls = (inspectorState.value?.calls ?? [])
    .filter((call) => call.connection === connection && call.status !== "running")
    .slice(0, MAX_CALLS);
  const load = (call: string) => {
    if (call !== "") action.run(async () => onChange(draftOf((await act("outcome", { call })).request)));
  };
  return (
    <div class="compare-request">
      {calls.length > 0 && (
        <label class="keep-select">
          Earlier call
          <select value="" onChange={(event) => load(event.currentTarget.value)}>
            <option value="">choose a call</option>
            {calls.map((call) => (
              <option key={call.id} value={call.id}>
                {titleOf(call)}
              </option>
            ))}
          </select>
        </label>
      )}
      {draft.other === undefined ? (
        <>
          <label class="keep-select">
            Tool
            <input
              type="text"
              value={draft.name}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => onChange({ ...draft, name: event.currentTarget.value })}
            />
          </label>
          <label class="compare-arguments">
            Arguments (JSON)
            <textarea
              rows={4}
              value={draft.text}
              spellcheck={false}
              onInput={(event) => onChange({ ...draft, text: event.currentTarget.value })}
            />
          </label>
        </>
      ) : (
        <p>
          <code>{JSON.stringify(draft.other)}</code>{" "}
          <button type="button" onClick={() => onChange({ name: "", text: "{}" })}>
            Call a tool instead
          </button>
        </p>
      )}
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </div>
  );
}

const titleOf = ({ kind, name, status }: CallInfo) => `${kind} ${name}, ${status}`;

function draftOf(request: CallRequest): RequestDraft {
  if (request.kind !== "tool" || request.asTask === true) return { name: "", text: "{}", other: request };
  return { name: request.name, text: JSON.stringify(request.arguments, null, 2) };
}
