import { REVISIONS, type Revision, shownRevision } from "@parley/mcp/protocol";
import { useState } from "preact/hooks";
import type { CallRequest } from "../../src/contract/calls.js";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import type { EraComparison } from "../../src/contract/timeline.js";
import { act } from "../backend/act.js";
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
  readonly request: CallRequest;
  readonly comparison: EraComparison;
}

/** The same call in both eras, side by side. */
export function CompareView({ connection }: { readonly connection: ConnectionInfo }) {
  const [draft, setDraft] = useState(EMPTY);
  const [left, setLeft] = useState(() => newestOf("stateful"));
  const [right, setRight] = useState(() => newestOf("stateless"));
  const [asked, setAsked] = useState<CallRequest | undefined>(undefined);
  const [compared, setCompared] = useState<Compared | undefined>(undefined);
  const action = useAction();
  const run = (request: CallRequest) => {
    setAsked(undefined);
    action.run(async () => {
      setCompared(undefined);
      const input = { connection: connection.id, request, revisions: [left, right] as const };
      setCompared({ request, comparison: await act("compare", input) });
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
        <button type="button" class="main" disabled={action.busy || connection.status !== "ready"} onClick={ask}>
          {action.busy ? "Calling…" : "Call in both"}
        </button>
      </div>
      <p class="soft">
        The call runs twice, over two fresh connections, one after the other. Questions of the server are asked twice
        too.
      </p>
      <RunProgress kind="comparison" />
      {asked !== undefined && (
        <Dialog title="Call twice?" onClose={() => setAsked(undefined)}>
          <p>
            The server is asked in {left} and then in {right}. What the call writes, buys or deletes, it does twice.
          </p>
          <div class="parts-actions">
            <button type="button" class="main" onClick={() => run(asked)}>
              Call twice
            </button>
            <button type="button" onClick={() => setAsked(undefined)}>
              Stay here
            </button>
          </div>
        </Dialog>
      )}
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
      {compared !== undefined && <EraColumns {...compared} />}
    </div>
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
