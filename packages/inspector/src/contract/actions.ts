import type { AppPage } from "@parley/mcp/apps";
import type { Completion, LoggingLevel, Revision, Root } from "@parley/mcp/protocol";
import type { CallOutcome, CallRequest } from "./calls.js";
import type { OfferKind, ProblemInfo } from "./connections.js";
import type { ModelView, Provider } from "./model-view.js";
import type { OfferDetail, OfferList } from "./offers.js";
import type { QuestionAnswer } from "./questions.js";
import type { FileDownload, FileStream, ReplayReport } from "./sessions.js";
import type { CopyForm, EntryDetail, EraComparison } from "./timeline.js";

interface Action<I, O> {
  readonly input: I;
  readonly output: O;
}

type EmptyObject = Readonly<Record<string, never>>;

/** The actions of the page: `POST /api/<name>` with the input as JSON. */
export interface InspectorActions {
  /**
   * Opens a connection to one of the inspector's targets. Opens a further connection if the target is already
   * connected.
   */
  connect: Action<{ target: string; revision?: Revision | undefined }, { connection: string }>;
  /**
   * Connects to an address that the user entered. Commands can be started only from the command line, not from the
   * page.
   */
  connectUrl: Action<
    {
      url: string;
      transport?: "http" | "sse" | undefined;
      revision?: Revision | undefined;
      headers?: Readonly<Record<string, string>> | undefined;
    },
    { connection: string }
  >;
  /**
   * Closes a connection and opens it again. `revision` selects another revision, and `null` negotiates one. Without
   * `revision`, the earlier choice of the user applies.
   */
  reopen: Action<{ connection: string; revision?: Revision | null | undefined }, EmptyObject>;
  /** Closes a connection. Its entries stay in the timeline. */
  disconnect: Action<{ connection: string }, EmptyObject>;
  /** Removes a closed connection from the list. */
  forget: Action<{ connection: string }, EmptyObject>;
  /** Deletes the tokens for a server and opens the connection again. */
  logout: Action<{ connection: string }, EmptyObject>;

  list: Action<{ connection: string; kind: OfferKind; refresh?: boolean | undefined }, OfferList>;
  offer: Action<{ connection: string; kind: OfferKind; name: string }, OfferDetail>;
  call: Action<{ connection: string; request: CallRequest }, { call: string }>;
  cancelCall: Action<{ call: string }, EmptyObject>;
  /** Returns the outcome of a call that has ended. */
  outcome: Action<{ call: string }, CallOutcome>;
  complete: Action<
    {
      connection: string;
      target: { readonly prompt: string } | { readonly template: string };
      argument: { readonly name: string; readonly value: string };
      settled: Readonly<Record<string, string>>;
    },
    Completion
  >;
  subscribe: Action<{ connection: string; uri: string }, EmptyObject>;
  unsubscribe: Action<{ connection: string; uri: string }, EmptyObject>;
  /** Returns the page of a tool and the address of its sandbox. */
  appPage: Action<{ connection: string; tool: string }, { readonly page: AppPage; readonly sandbox: string }>;
  setLogLevel: Action<{ connection: string; level: LoggingLevel }, EmptyObject>;

  answer: Action<{ question: string; answer: QuestionAnswer }, EmptyObject>;
  setRoots: Action<{ connection: string; roots: readonly Root[] }, EmptyObject>;

  entry: Action<{ seq: number }, EntryDetail>;
  copy: Action<{ seq: number; form: CopyForm }, { text: string }>;
  /** Deletes all entries of the timeline. */
  clear: Action<EmptyObject, EmptyObject>;
  /**
   * Makes the same call over a new connection in each of two revisions. The page asks the user first, because the call
   * runs twice.
   */
  compare: Action<
    { connection: string; request: CallRequest; revisions: readonly [Revision, Revision] },
    EraComparison
  >;

  modelView: Action<{ connection: string; provider: Provider }, ModelView>;

  startRecording: Action<EmptyObject, EmptyObject>;
  stopRecording: Action<EmptyObject, EmptyObject>;
  /**
   * Returns the recording of a connection or, if nothing was recorded, all messages of the connection in the timeline.
   * Secrets are redacted.
   */
  exportSession: Action<{ connection: string }, FileDownload>;
  /** Shows a recording as a connection of its own. */
  importSession: Action<{ text: string; name: string }, { connection: string }>;
  /**
   * Sends the requests of a session again, over a new connection to the target of `against`. `all` includes tools that
   * may change something.
   */
  replay: Action<{ session: string; against: string; all: boolean }, ReplayReport>;
  /**
   * Cancels a replay or a comparison. The `replay` or `compare` action then returns the work done so far. Has no effect
   * on a run that has ended.
   */
  cancelRun: Action<{ run: string }, EmptyObject>;
  /** Returns the timeline as one HTML file, without secrets. */
  share: Action<EmptyObject, FileDownload>;
}

export type ActionName = keyof InspectorActions;
export type ActionInput<N extends ActionName> = InspectorActions[N]["input"];
export type ActionOutput<N extends ActionName> = InspectorActions[N]["output"];

/** The response to an action. */
export type ActionAnswer<N extends ActionName> =
  | { readonly ok: true; readonly value: ActionOutput<N> }
  | { readonly ok: false; readonly problem: ProblemInfo };

/**
 * The output of a handler: the output of the action or, for an action that returns a file, a file that is streamed to
 * the page.
 */
export type HandlerOutput<N extends ActionName> = ActionOutput<N> extends FileDownload ? FileStream : ActionOutput<N>;

/** The handlers of all actions. They receive the input of the page unchecked and must validate it. */
export type ActionHandlers = {
  readonly [N in ActionName]: (input: ActionInput<N>) => HandlerOutput<N> | Promise<HandlerOutput<N>>;
};
