import type { ComponentChildren } from "preact";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import { sharedSession } from "../backend/shared-session.js";
import { ProblemNote } from "../parts/problem-note.js";
import { CapabilityRows } from "./capability-rows.js";
import { ConnectionControls } from "./connection-controls.js";
import { StatusDot } from "./connection-list.js";
import { connectionFacts, connectionName, STATUS_WORDS } from "./connection-name.js";
import { LogLevelSelect } from "./log-level-select.js";
import { LoginSteps } from "./login-steps.js";
import { RootsEditor } from "./roots-editor.js";

const TRANSPORTS: Readonly<Record<ConnectionInfo["target"]["kind"], string>> = {
  url: "HTTP",
  command: "stdio, with a process of its own",
  module: "in memory, from a module",
  server: "in memory, in this process",
  file: "none, from a recording",
};

/** Everything about one connection and its server. */
export function ServerView({ connection }: { readonly connection: ConnectionInfo }) {
  const { status, problem, login, instructions } = connection;
  // Of a server that was never reached nothing can be said.
  const known = connection.server !== undefined || connection.revision !== undefined;
  const live = sharedSession() === undefined && status !== "imported";
  return (
    <div class="connect-server">
      <header class="connect-server-head">
        <h2>{connectionName(connection)}</h2>
        <p class="connect-status">
          <StatusDot status={status} /> {STATUS_WORDS[status]}
          <span class="soft">{connectionFacts(connection).map((fact) => ` · ${fact}`)}</span>
        </p>
      </header>
      {problem !== undefined && <ProblemNote problem={problem} />}
      {live && <ConnectionControls connection={connection} />}
      {login !== undefined && <LoginSteps connection={connection} login={login} live={live} />}
      <ServerFacts connection={connection} />
      {known && (
        <Part title="Capabilities">
          <CapabilityRows capabilities={connection.capabilities} />
        </Part>
      )}
      {instructions !== undefined && (
        <Part title="Instructions">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
          <section class="connect-instructions" aria-label="Instructions" tabIndex={0}>
            <pre>{instructions}</pre>
          </section>
        </Part>
      )}
      {live && (
        <>
          <Part title="Roots">
            <RootsEditor key={connection.id} connection={connection} />
          </Part>
          {known && (
            <Part title="Log messages">
              <LogLevelSelect connection={connection} />
            </Part>
          )}
        </>
      )}
    </div>
  );
}

function ServerFacts({ connection }: { readonly connection: ConnectionInfo }) {
  const { server, target, revision, era, wanted } = connection;
  const negotiated = wanted === undefined ? "negotiated" : "as chosen";
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Name", server?.name],
    ["Title", server?.title],
    ["Version", server?.version],
    ["Revision", revision === undefined ? undefined : `${revision} (${negotiated})`],
    ["Era", era],
    ["Target", target.shown],
    ["Transport", TRANSPORTS[target.kind]],
  ];
  return (
    <Part title="Server">
      <dl class="connect-facts">
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd class="mono">{value}</dd>
              </div>
            ),
        )}
      </dl>
    </Part>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="connect-part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
