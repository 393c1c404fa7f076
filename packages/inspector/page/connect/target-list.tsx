import type { TargetInfo } from "../../src/contract/connections.js";
import { act } from "../backend/act.js";
import { chosenConnection, inspectorState } from "../backend/page-state.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";

/** The targets named on the command line. Commands to run can be named only on the command line, not in the page. */
export function TargetList() {
  const targets = inspectorState.value?.targets ?? [];
  if (targets.length === 0) return null;
  return (
    <section class="connect-section" aria-labelledby="connect-targets">
      <h2 id="connect-targets">From the terminal</h2>
      <ul class="connect-list">
        {targets.map((target) => (
          <li key={target.id}>
            <Target target={target} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Target({ target }: { readonly target: TargetInfo }) {
  const action = useAction();
  const connected = inspectorState.value?.connections.some((connection) => connection.target.id === target.id) ?? false;
  const connect = () =>
    action.run(async () => {
      const { connection } = await act("connect", { target: target.id });
      chosenConnection.value = connection;
    });
  return (
    <>
      <button type="button" class="connect-item" disabled={action.busy} onClick={connect}>
        <span class="connect-target-shown mono" title={target.shown}>
          {target.shown}
        </span>
        <span class="connect-item-facts soft">{connected ? "Open another connection" : "Connect"}</span>
      </button>
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </>
  );
}
