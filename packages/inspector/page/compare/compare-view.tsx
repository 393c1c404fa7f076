import { REVISIONS, type Revision, shownRevision } from "@parley/mcp/protocol";
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { CallRequest } from "../../src/contract/calls.js";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import type { EraComparison } from "../../src/contract/timeline.js";
import { act } from "../backend/act.js";
import { inspectorState } from "../backend/page-state.js";
import { Dialog } from "../parts/dialog.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";
import { RunProgress } from "../sessions/run-progress.js";
import { ComparedRequest, type RequestDraft, requestOf } from "./compared-request.js";
import { EraColumns } from "./era-columns.js";

const newestOf = (era: string): Revision => {
  const revisions = REVISIONS.filter((revision) => shownRevision(revision).era === era);
  return revisions.at(-1) ?? REVISIONS[0];
};

const EMPTY: RequestDraft = { name: "", text: "{}" };

interface FinishedComparison {
  readonly connection: string;
  readonly request: CallRequest;
  readonly comparison: EraComparison;
}

/** The last comparison. Kept outside of the component, because a comparison continues while another view is open. */
const lastComparison = signal<FinishedComparison | undefined>(undefined);

/** Runs the same call in two revisions, by default the newest of each era, and shows the messages side by side. */
export function CompareView({ connection }: { readonly connection: ConnectionInfo }) {
  const [draft, setDraft] = useState(EMPTY);
  const [left, setLeft] = useState(() => newestOf("stateful"));
  const [right, setRight] = useState(() => newestOf("stateless"));
  const [asked, setAsked] = useState<CallRequest | undefined>(undefined);
  const action = useAction();
  const busy = action.busy || (inspectorState.value?.runs ?? []).some(({ kind }) => kind === "comparison");
  const compared = lastComparison.value?.connection === connection.id ? lastComparison.value : undefined;
  const run = (request: CallRequest) => {
    setAsked(undefined);
    action.run(async () => {
      lastComparison.value = undefined;
      const input = { connection: connection.id, request, revisions: [left, right] as const };
      const comparison = await act("compare", input);
      lastComparison.value = { connection: connection.id, request, comparison };
    });
  };
  const ask = () => {
    const { request, problem } = requestOf(draft);
    if (request !== undefined) setAsked(request);
    else action.run(() => Promise.reject(new Error(problem)));
  };
  return (
    <div class="compare">
      <ComparedRequest connection={connection.id} draft={draft} onChange={setDraft} />
      <div class="compare-revisions">
        <RevisionChoice label="First revision" chosen={left} onChoose={setLeft} />
        <RevisionChoice label="Second revision" chosen={right} onChoose={setRight} />
        <button type="button" class="main" disabled={busy || connection.status !== "ready"} onClick={ask}>
          {busy ? "Calling…" : "Call in both"}
        </button>
      </div>
      <p class="soft">
        The protocol has two eras: stateful revisions open a session with a handshake, stateless ones send every request
        on its own. The call runs twice, one after the other, each time over a new connection. If the server asks
        questions, it asks them twice.
      </p>
      <RunProgress kind="comparison" />
      {asked !== undefined && (
        <ConfirmCalls revisions={[left, right]} onCall={() => run(asked)} onClose={() => setAsked(undefined)} />
      )}
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
      {compared !== undefined && <EraColumns request={compared.request} comparison={compared.comparison} />}
    </div>
  );
}

interface ConfirmCallsProps {
  readonly revisions: readonly [Revision, Revision];
  readonly onCall: () => void;
  readonly onClose: () => void;
}

function ConfirmCalls({ revisions: [left, right], onCall, onClose }: ConfirmCallsProps) {
  return (
    <Dialog title="Call twice?" onClose={onClose}>
      <p>
        The call runs in {left} and then in {right}. Anything that it writes, buys or deletes happens twice.
      </p>
      <div class="parts-actions">
        <button type="button" class="main" onClick={onCall}>
          Call twice
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

interface RevisionChoiceProps {
  readonly label: string;
  readonly chosen: Revision;
  readonly onChoose: (revision: Revision) => void;
}

function RevisionChoice({ label, chosen, onChoose }: RevisionChoiceProps) {
  const choose = (value: string) => onChoose(REVISIONS.find((revision) => revision === value) ?? chosen);
  return (
    <label class="keep-select">
      {label}
      <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
        {REVISIONS.map((revision) => (
          <option key={revision} value={revision}>
            {revision} ({shownRevision(revision).era})
          </option>
        ))}
      </select>
    </label>
  );
}
