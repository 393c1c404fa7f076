import type { ComponentChildren } from "preact";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import { sharedSession } from "../backend/shared-session.js";
import { ProblemNote } from "../parts/problem-note.js";
import { CapabilityRows } from "./capability-rows.js";
import { ConnectionControls } from "./connection-controls.js";
import { StatusDot } from "./connection-list.js";
import { connectionDetails, connectionName, STATUS_WORDS } from "./connection-name.js";
import { LogLevelSelect } from "./log-level-select.js";
import { LoginSteps } from "./login-steps.js";
import { RootsEditor } from "./roots-editor.js";

const TRANSPORTS: Readonly<Record<ConnectionInfo["target"]["kind"], string>> = {
  url: "HTTP",
  command: "stdio, in a child process",
  module: "in memory, from a module",
  server: "in memory, in this process",
  file: "none (recording)",
};

/** All details of one connection and its server. */
export function ServerView({ connection }: { readonly connection: ConnectionInfo }) {
  const { status, problem, login, instructions } = connection;
  // Nothing is known about a server before the first successful connection.
  const known = connection.server !== undefined || connection.revision !== undefined;
  const live = sharedSession() === undefined && status !== "imported";
  return (
    <div class="connect-server">
      <header class="connect-server-head">
        <h2>{connectionName(connection)}</h2>
        <p class="connect-status">
          <StatusDot status={status} /> {STATUS_WORDS[status]}
          <span class="soft">{connectionDetails(connection).map((fact) => ` · ${fact}`)}</span>
        </p>
      </header>
      {problem !== undefined && <ProblemNote problem={problem} />}
      {live && <ConnectionControls connection={connection} />}
      {login !== undefined && <LoginSteps connection={connection} login={login} live={live} />}
      <ServerDetails connection={connection} />
      {known && (
        <Section title="Capabilities">
          <CapabilityRows capabilities={connection.capabilities} />
        </Section>
      )}
      {instructions !== undefined && (
        <Section title="Instructions">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
          <section class="connect-instructions" aria-label="Instructions" tabIndex={0}>
            <pre>{instructions}</pre>
          </section>
        </Section>
      )}
      {live && (
        <>
          <Section title="Roots">
            <RootsEditor key={connection.id} connection={connection} />
          </Section>
          {known && (
            <Section title="Log messages">
              <LogLevelSelect connection={connection} />
            </Section>
          )}
        </>
      )}
    </div>
  );
}

function ServerDetails({ connection }: { readonly connection: ConnectionInfo }) {
  const { server, target, revision, era, wanted } = connection;
  const negotiated = wanted === undefined ? "negotiated" : "chosen";
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
    <Section title="Server">
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
    </Section>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="connect-part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
