import { LOG_LEVELS } from "@parley/mcp/protocol";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import { act } from "../backend/act.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";

/** Chooses from which severity on the server sends log messages. */
export function LogLevelSelect({ connection }: { readonly connection: ConnectionInfo }) {
  const action = useAction();
  if (connection.capabilities["logging"] === undefined) return <p class="soft">The server sends none.</p>;
  const choose = (value: string) => {
    const level = LOG_LEVELS.find((known) => known === value);
    if (level !== undefined) action.run(() => act("setLogLevel", { connection: connection.id, level }));
  };
  return (
    <div class="connect-log">
      <label class="connect-field-row">
        <span>From this severity on</span>
        <select
          value={connection.logLevel ?? ""}
          disabled={action.busy || connection.status !== "ready"}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {connection.logLevel === undefined && <option value="">as the server likes</option>}
          {LOG_LEVELS.map((level) => (
            <option key={level} value={level}>
              {level}
            </option>
          ))}
        </select>
      </label>
      <p class="soft">They arrive in the timeline as notifications/message.</p>
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
    </div>
  );
}
