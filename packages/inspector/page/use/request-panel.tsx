import { CORE_METHODS } from "@parley/mcp/protocol";
import type { CallRequest } from "../../src/contract/calls.js";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import { JsonInput } from "../forms/json-input.js";
import { isJsonObject } from "../forms/model/json-members.js";
import { ProblemNote } from "../parts/problem-note.js";
import { CallArea } from "./call-area.js";
import { isRunKey, usePanelCalls } from "./panel-props.js";
import { RunButton } from "./run-button.js";
import { useCachedState } from "./use-cached-state.js";

/** Suggested methods. The user can enter any other method. Excludes streams and the request that opens a session. */
const METHODS = [
  ...CORE_METHODS.filter(({ kind, sender, opensSession, deadlineExempt }) => {
    return kind === "request" && sender !== "server" && opensSession !== true && deadlineExempt !== true;
  }).map(({ method }) => method),
  "tasks/list",
  "tasks/get",
  "skills/list",
];

interface RequestPanelProps {
  readonly connection: ConnectionInfo;
  readonly onRead: (uri: string) => void;
}

/** Sends any request. */
export function RequestPanel({ connection, onRead }: RequestPanelProps) {
  const [method, setMethod] = useCachedState(`method ${connection.id}`, () => "ping");
  const [params, setParams] = useCachedState<unknown>(`params ${connection.id}`, () => ({}));
  const calls = usePanelCalls(connection.id, "request");
  const given = params === undefined ? {} : params;
  const isReady = connection.status === "ready" && method !== "" && isJsonObject(given);
  const send = () => {
    if (isReady) calls.start({ kind: "request", method, params: given });
  };
  const again = (request: CallRequest) => {
    if (request.kind !== "request") return;
    setMethod(request.method);
    setParams(request.params);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the whole panel; its button does the same
    <div class="use-panel" onKeyDown={(event) => isRunKey(event) && send()}>
      <header class="use-head">
        <h2>Custom request</h2>
        <p class="use-description">
          Sends any method with the params you enter, even if the server may not support it.
        </p>
      </header>
      <div class="forms-field">
        <label for="request-method">Method</label>
        <input
          id="request-method"
          type="text"
          list="request-methods"
          spellcheck={false}
          autocomplete="off"
          value={method}
          onInput={(event) => setMethod(event.currentTarget.value)}
        />
        <datalist id="request-methods">
          {METHODS.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      </div>
      <div class="forms-field">
        <label for="request-params">Params (JSON)</label>
        <JsonInput id="request-params" value={params} onChange={setParams} rows={8} />
        {!isJsonObject(given) && <p class="forms-issue">Params must be a JSON object.</p>}
      </div>
      <div class="use-actions">
        <RunButton title="Send" disabled={!isReady} busy={calls.busy} onRun={send} />
      </div>
      {calls.problem !== undefined && <ProblemNote problem={calls.problem} />}
      <CallArea
        connection={connection.id}
        kind="request"
        shown={calls.shown}
        onShow={calls.show}
        onAgain={again}
        onRead={onRead}
      />
    </div>
  );
}
