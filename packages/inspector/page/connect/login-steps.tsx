import type { ConnectionInfo, LoginInfo, LoginStep } from "../../src/contract/connections.js";
import { act } from "../backend/act.js";
import { showEntry } from "../backend/page-state.js";
import { AddressView } from "../parts/address-view.js";
import { openOutside, outsideAddress } from "../parts/outside-address.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";

interface LoginStepsProps {
  readonly connection: ConnectionInfo;
  readonly login: LoginInfo;
  /** False in shared and imported sessions, which have no server to log in to. */
  readonly live: boolean;
}

/** The steps of a login, and the page to visit while the login waits for the user. */
export function LoginSteps({ connection, login, live }: LoginStepsProps) {
  const action = useAction();
  const waits = login.visit !== undefined;
  return (
    <section class="connect-part" aria-labelledby="connect-login">
      <h3 id="connect-login">Login</h3>
      {live && login.visit !== undefined && <PageToVisit address={login.visit} />}
      <ol class="connect-steps" aria-label="Steps">
        {login.steps.map((step, index) => (
          <Step key={step.seq ?? `step ${index}`} step={step} pending={waits && index === login.steps.length - 1} />
        ))}
      </ol>
      {login.scopes !== undefined && (
        <p>
          {waits ? "Requested scopes" : "Scopes"}:{" "}
          {login.scopes.length === 0 ? "none" : login.scopes.map((scope) => <code key={scope}>{scope} </code>)}
        </p>
      )}
      {live && !waits && connection.status !== "closed" && (
        <div class="parts-actions">
          <button
            type="button"
            disabled={action.busy}
            onClick={() => action.run(() => act("logout", { connection: connection.id }))}
          >
            Log out
          </button>
        </div>
      )}
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </section>
  );
}

/** `pending`: the outcome of the step is not known yet. */
function Step({ step, pending }: { readonly step: LoginStep; readonly pending: boolean }) {
  const { seq } = step;
  return (
    <li class={step.ok ? "connect-step" : "connect-step connect-step-bad"}>
      <span aria-hidden="true">{pending ? "…" : step.ok ? "✓" : "✕"}</span>
      <span>
        <strong>{step.step}</strong> <span class="mono">{step.shown}</span>
        <span class="connect-outcome soft">
          {!step.ok && "failed: "}
          {step.outcome}
        </span>
      </span>
      {seq !== undefined && (
        <button type="button" class="parts-link" onClick={() => showEntry(seq)}>
          #{seq} <span class="visually-hidden">in the timeline</span>
        </button>
      )}
    </li>
  );
}

function PageToVisit({ address }: { readonly address: string }) {
  const safe = outsideAddress(address);
  return (
    <div class="connect-visit">
      <p>The server asks you to log in on this page:</p>
      <AddressView address={address} />
      {safe !== undefined && (
        <div class="parts-actions">
          <button type="button" class="main" onClick={() => openOutside(safe)}>
            Open the login page
          </button>
        </div>
      )}
    </div>
  );
}
