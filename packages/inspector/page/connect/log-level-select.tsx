import { LOG_LEVELS } from "@parley/mcp/protocol";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import { act } from "../backend/act.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";

/** Selects the minimum severity of the log messages that the server sends. */
export function LogLevelSelect({ connection }: { readonly connection: ConnectionInfo }) {
  const action = useAction();
  if (connection.capabilities["logging"] === undefined)
    return <p class="soft">The server does not send log messages.</p>;
  const choose = (value: string) => {
    const level = LOG_LEVELS.find((known) => known === value);
    if (level !== undefined) action.run(() => act("setLogLevel", { connection: connection.id, level }));
  };
  return (
    <div class="connect-log">
      <label class="connect-field-row">
        <span>Minimum log level</span>
        <select
          value={connection.logLevel ?? ""}
          disabled={action.busy || connection.status !== "ready"}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {connection.logLevel === undefined && <option value="">server default</option>}
          {LOG_LEVELS.map((level) => (
            <option key={level} value={level}>
              {level}
            </option>
          ))}
        </select>
      </label>
      <p class="soft">Log messages appear in the timeline as notifications/message.</p>
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </div>
  );
}
