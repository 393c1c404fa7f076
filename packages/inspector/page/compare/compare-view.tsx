import { REVISIONS, type Revision, shownRevision } from "@parley/mcp/protocol";
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { CallRequest } from "../../src/contract/calls.js";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import type { EraComparison } from "../../src/contract/timeline.js";
import { act } from "../backend/act.js";
import { inspectorState } from "../backend/page-state.js";
import { RunProgress } from "../keep/run-progress.js";
import { Dialog } from "../parts/dialog.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";
import { ComparedRequest, type RequestDraft, requestOf } from "./compared-request.js";
import { EraColumns } from "./era-columns.js";

const newestOf = (era: string): Revision => {
  const revisions = REVISIONS.filter((revision) => shownRevision(revision).era === era);
  return revisions.at(-1) ?? REVISIONS[0];
};

const EMPTY: RequestDraft = { name: "", text: "{}" };

interface Compared {
  readonly connection: string;
  readonly request: CallRequest;
  readonly comparison: EraComparison;
}

/** What the last comparison gave; one goes on while another view is shown. */
const lastCompared = signal<Compared | undefined>(undefined);

/** The same call in both eras, side by side. */
export function CompareView({ connection }: { readonly connection: ConnectionInfo }) {
  const [draft, setDraft] = useState(EMPTY);
  const [left, setLeft] = useState(() => newestOf("stateful"));
  const [right, setRight] = useState(() => newestOf("stateless"));
  const [asked, setAsked] = useState<CallRequest | undefined>(undefined);
  const action = useAction();
  const busy = action.busy || (inspectorState.value?.runs ?? []).some(({ kind }) => kind === "comparison");
  const compared = lastCompared.value?.connection === connection.id ? lastCompared.value : undefined;
  const run = (request: CallRequest) => {
    setAsked(undefined);
    action.run(async () => {
      lastCompared.value = undefined;
      const input = { connection: connection.id, request, revisions: [left, right] as const };
      const comparison = await act("compare", input);
      lastCompared.value = { connection: connection.id, request, comparison };
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
        <RevisionChoice label="Left" chosen={left} onChoose={setLeft} />
        <RevisionChoice label="Right" chosen={right} onChoose={setRight} />
        <button type="button" class="main" disabled={busy || connection.status !== "ready"} onClick={ask}>
          {busy ? "Calling…" : "Call in both"}
        </button>
      </div>
      <p class="soft">
        The call runs twice, over two fresh connections, one after the other. Questions of the server are asked twice
        too.
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
        The server is asked in {left} and then in {right}. What the call writes, buys or deletes, it does twice.
      </p>
      <div class="parts-actions">
        <button type="button" class="main" onClick={onCall}>
          Call twice
        </button>
        <button type="button" onClick={onClose}>
          Stay here
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
