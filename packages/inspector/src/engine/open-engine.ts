import { memoryTokenStore } from "@parley/mcp/auth";
import { callActions } from "../calls/call-actions.js";
import { RunningCalls } from "../calls/running-calls.js";
import { compareActions } from "../compare/compare-actions.js";
import { connectionActions } from "../connections/connection-actions.js";
import { Connections, MAX_CONNECTIONS } from "../connections/connections.js";
import type { ActionHandlers } from "../contract/actions.js";
import type { InspectorState } from "../contract/inspector-state.js";
import type { InspectorOptions } from "../inspector-options.js";
import { modelActions } from "../model/model-actions.js";
import { offerActions } from "../offers/offer-actions.js";
import { OfferLists } from "../offers/offer-lists.js";
import { Subscriptions } from "../offers/subscriptions.js";
import { PendingQuestions } from "../questions/pending-questions.js";
import { questionActions } from "../questions/question-actions.js";
import { CancellableRuns } from "../sessions/cancellable-runs.js";
import { sessionActions } from "../sessions/session-actions.js";
import { SessionRecorder } from "../sessions/session-recorder.js";
import { Timeline } from "../timeline/timeline.js";
import { timelineActions } from "../timeline/timeline-actions.js";
import type { InspectorEngine } from "./inspector-engine.js";

/** The version of this package. */
export const INSPECTOR_VERSION = "1.0.0-rc.1";

/** An engine that connects to the targets of the inspector on request. */
export interface OpenedEngine extends InspectorEngine {
  /**
   * Starts to connect to every target. Called when a page has loaded, or after a short wait, so that connecting does
   * not delay the page.
   */
  connectTargets(): void;
}

/**
 * Creates the components of the inspector and connects them. `pageFolder` has the built page, which shared sessions
 * include.
 */
export function openEngine(options: InspectorOptions, pageFolder: string): OpenedEngine {
  const components = createComponents(options);
  const { timeline, connections, listeners } = components;
  const sandbox = { url: "" };
  return {
    handlers: handlersOf(components, options, { pageFolder, sandbox }),
    state: () => stateOf(components, options),
    entries: (from, limit) => timeline.summaries(from, limit),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    setSandbox(url) {
      sandbox.url = url;
    },
    connectTargets() {
      for (const { id } of connections.targets().slice(0, MAX_CONNECTIONS))
        connections.connectTarget(id, options.revision);
    },
    close: () => connections.close(),
  };
}

type Components = ReturnType<typeof createComponents>;

function createComponents({ targets = [], tokens = memoryTokenStore(), model, connectMs }: InspectorOptions) {
  const listeners = new Set<() => void>();
  const changed = () => {
    for (const listener of listeners) listener();
  };
  const timeline = new Timeline();
  timeline.onAdded(changed);
  const now = () => timeline.now();
  const calls = new RunningCalls({ now, changed });
  const onlyCall = (connection: string) => calls.only(connection);
  const callOf = (connection: string) => calls.current(connection);
  const questions = new PendingQuestions({ now, changed, callOf, model });
  const answerers = (connection: string) => questions.answerers(connection);
  const connections = new Connections(targets, { timeline, changed, answerers, onlyCall, tokens, connectMs });
  const recorder = new SessionRecorder({ timeline, open: () => connections.all().map(({ id }) => id), changed });
  const offers = new OfferLists();
  const subscriptions = new Subscriptions({ changed });
  const runs = new CancellableRuns(changed);
  return { listeners, changed, timeline, calls, questions, connections, recorder, offers, subscriptions, runs };
}

function handlersOf(
  components: Components,
  { loadTokenizer }: InspectorOptions,
  { pageFolder, sandbox }: { pageFolder: string; sandbox: { readonly url: string } },
): ActionHandlers {
  const { timeline, calls, questions, connections, recorder, offers, subscriptions, changed, runs } = components;
  const targetOf = (connection: string) => connections.get(connection).target;
  return {
    ...connectionActions(connections),
    ...timelineActions({ timeline, targetOf, changed }),
    ...callActions(calls, connections),
    ...offerActions({ connections, offers, subscriptions, sandbox: () => sandbox.url }),
    ...questionActions(questions),
    ...modelActions({ connections, loadTokenizer }),
    ...compareActions({ connections, runs }),
    ...sessionActions({ connections, timeline, recorder, runs, pageFolder, changed }),
  };
}

function stateOf(components: Components, { model }: InspectorOptions): InspectorState {
  const { timeline, calls, questions, connections, recorder, subscriptions, runs } = components;
  const recording = recorder.info();
  const underWay = runs.list();
  return {
    version: INSPECTOR_VERSION,
    targets: connections.targets(),
    connections: connections.all().map(({ info }) => info),
    calls: calls.list(),
    questions: questions.list(),
    subscriptions: subscriptions.list(),
    ...(recording === undefined ? {} : { recording }),
    ...(underWay.length === 0 ? {} : { runs: underWay }),
    modelCommand: model !== undefined,
    timeline: timeline.range(),
  };
}
