import { type Client, connect, type Server, type Target } from "@parley/mcp";
import { apps } from "@parley/mcp/apps";
import { serveHttp } from "@parley/mcp/node";
import {
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type Revision,
  shownRevision,
} from "@parley/mcp/protocol";
import { skillsExtension } from "@parley/mcp/skills";
import { tasks } from "@parley/mcp/tasks";
import { onTestFinished } from "vitest";
import type { CallableConnection } from "../../src/calls/callable-connection.js";
import { type CallLimits, RunningCalls } from "../../src/calls/running-calls.js";
import type { CallInfo, CallOutcome, CallRequest } from "../../src/contract/calls.js";
import type { OfferKind } from "../../src/contract/connections.js";
import type { QuestionInfo } from "../../src/contract/questions.js";
import { type ListLimits, OfferLists } from "../../src/offers/offer-lists.js";
import { Subscriptions } from "../../src/offers/subscriptions.js";
import { PendingQuestions, type QuestionLimits } from "../../src/questions/pending-questions.js";

interface RoomOptions {
  readonly revision?: Revision | undefined;
  /** Default: within the process. */
  readonly over?: "memory" | "http" | undefined;
  readonly limits?: Partial<CallLimits & QuestionLimits> | undefined;
  readonly listLimits?: Partial<ListLimits> | undefined;
  readonly model?:
    | ((params: CreateMessageRequestParams, signal: AbortSignal) => Promise<CreateMessageResult>)
    | undefined;
}

/** Calls, offers and questions of one connection to a real server, as the engine puts them together. */
export interface OpenedRooms {
  readonly connection: CallableConnection & { readonly client: Client };
  readonly calls: RunningCalls;
  readonly offers: OfferLists;
  readonly questions: PendingQuestions;
  readonly subscriptions: Subscriptions;
  readonly warnings: readonly string[];
  /** Waits for a state: the condition is looked at after each change that the rooms tell. */
  when<T>(condition: () => T | undefined | false): Promise<T>;
  /** Starts a call and waits for its end. */
  call(request: CallRequest): Promise<CallOutcome>;
  /** Waits for the next question. */
  asked(): Promise<QuestionInfo>;
  ended(id: string): Promise<CallInfo>;
  /** Tells that a list has changed, as a connection does. */
  listChanged(kind: OfferKind): void;
}

export async function openRooms(target: Server | Target, options: RoomOptions = {}): Promise<OpenedRooms> {
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const look of waiting) look();
  };
  const now = () => performance.now();
  const calls = new RunningCalls({ now, changed, limits: options.limits });
  const callOf = (id: string) => calls.current(id);
  const questions = new PendingQuestions({ now, changed, callOf, model: options.model, limits: options.limits });
  const extensions = { tasks: tasks(), skills: skillsExtension, apps: apps() };
  const warnings: string[] = [];
  const client: Client = await connect(await reachable(target, options.over), {
    ...questions.answerers("c1"),
    extensions: Object.values(extensions),
    onWarning: (text) => warnings.push(text),
    ...(options.revision === undefined ? {} : { revisions: [options.revision] }),
  });
  onTestFinished(() => client.close());
  const lists: Partial<Record<OfferKind, number>> = {};
  const connection = { id: "c1", client, extensions, info: { lists, era: shownRevision(client.protocolVersion).era } };
  const when = <T>(condition: () => T | undefined | false) =>
    new Promise<T>((resolve) => {
      const look = () => {
        const value = condition();
        if (value === undefined || value === false) return;
        waiting.delete(look);
        resolve(value);
      };
      waiting.add(look);
      look();
    });
  const ended = (id: string) => when(() => calls.list().find((call) => call.id === id && call.status !== "running"));
  return {
    connection,
    calls,
    offers: new OfferLists(options.listLimits),
    questions,
    subscriptions: new Subscriptions({ changed }),
    warnings,
    when,
    ended,
    call: async (request) => {
      const id = calls.start(connection, request);
      await ended(id);
      return calls.outcome(id);
    },
    asked: () => when(() => questions.list()[0]),
    listChanged: (kind) => {
      lists[kind] = (lists[kind] ?? 0) + 1;
    },
  };
}

async function reachable(target: Server | Target, over: RoomOptions["over"]): Promise<Target | Server> {
  if (over !== "http") return target;
  // Only servers of this process are served.
  const handle = await serveHttp(target as Server, { port: 0 });
  onTestFinished(() => handle.close());
  return handle.url;
}
