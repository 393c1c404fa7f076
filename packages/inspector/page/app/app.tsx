import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import type { InspectorState } from "../../src/contract/inspector-state.js";
import { currentConnection, currentView, entries, inspectorState, type ViewId } from "../backend/page-state.js";
import { sharedSession } from "../backend/shared-session.js";
import { CompareView } from "../compare/compare-view.js";
import { ConnectPane, FirstConnection } from "../connect/connect-pane.js";
import { connectionName } from "../connect/connection-name.js";
import { NotReadyNote } from "../connect/not-ready-note.js";
import { ServerView } from "../connect/server-view.js";
import { ModelPanel } from "../model/model-panel.js";
import { Announcer, announce } from "../parts/announcer.js";
import { TabPanel, Tabs } from "../parts/tabs.js";
import { QuestionsPanel } from "../questions/questions-panel.js";
import { SessionView } from "../sessions/session-view.js";
import { TimelineView } from "../timeline/timeline-view.js";
import { UseView } from "../use/use-view.js";
import { describeChanges } from "./announce-changes.js";
import { AppHeader, StatusBanner } from "./app-header.js";
import { HelpDialog } from "./help-dialog.js";
import { onShortcut } from "./shortcuts.js";
import { VIEW_LIST } from "./view-list.js";
import { visibleText } from "./visible-text.js";

/** The whole page. */
export function App() {
  useShortcuts();
  useAnnouncements();
  useTitle();
  const views = VIEW_LIST.filter(({ shared }) => shared || sharedSession() === undefined);
  const view = views.find(({ id }) => id === currentView.value)?.id ?? "timeline";
  const tabs = views.map(({ id, title }) => ({
    id,
    title,
    count: id === "timeline" && entries.value.length > 0 ? entries.value.length : undefined,
  }));
  const choose = (id: ViewId) => {
    currentView.value = id;
  };
  return (
    <div class="app">
      <button type="button" class="app-skip" onClick={() => document.getElementById("view")?.focus()}>
        Skip to main content
      </button>
      <AppHeader />
      <StatusBanner />
      <div class="app-body">
        <ConnectPane />
        <main class="app-main" id="view" tabIndex={-1}>
          <Tabs label="Views" tabs={tabs} chosen={view} onChoose={choose} />
          <NotReadyNote view={view} connection={currentConnection.value} />
          <TabPanel label="Views" chosen={view}>
            <View id={view} connection={currentConnection.value} />
          </TabPanel>
        </main>
      </div>
      {sharedSession() === undefined && <QuestionsPanel />}
      <HelpDialog />
      <Announcer />
    </div>
  );
}

function View({ id, connection }: { readonly id: ViewId; readonly connection: ConnectionInfo | undefined }) {
  if (id === "timeline") return <TimelineView />;
  if (id === "session") return <SessionView />;
  if (connection === undefined) return inspectorState.value === undefined ? null : <FirstConnection />;
  switch (id) {
    case "server":
      return <ServerView key={connection.id} connection={connection} />;
    case "use":
      return <UseView key={connection.id} connection={connection} />;
    case "model":
      if (connection.status !== "ready" && connection.status !== "lost") return null;
      return <ModelPanel key={connection.id} connection={connection} />;
    case "eras":
      return <CompareView key={connection.id} connection={connection} />;
  }
}

function useShortcuts(): void {
  useEffect(() => {
    addEventListener("keydown", onShortcut, { capture: true });
    return () => removeEventListener("keydown", onShortcut, { capture: true });
  }, []);
}

function useAnnouncements(): void {
  const before = useRef<InspectorState | undefined>(undefined);
  useSignalEffect(() => {
    const now = inspectorState.value;
    const words = now === undefined ? undefined : describeChanges(before.current, now);
    before.current = now;
    if (words !== undefined) announce(words);
  });
}

function useTitle(): void {
  useSignalEffect(() => {
    const waiting = inspectorState.value?.questions.length ?? 0;
    const connection = currentConnection.value;
    const parts = [
      VIEW_LIST.find(({ id }) => id === currentView.value)?.title,
      connection === undefined ? undefined : connectionName(connection),
      "Parley inspector",
    ];
    const title = parts.filter((part) => part !== undefined).join(" – ");
    document.title = (waiting > 0 ? `(${waiting}) ` : "") + visibleText(title);
  });
}
