import type { AppPage } from "@parley/mcp/apps";
import type { Completion, LoggingLevel, Revision, Root } from "@parley/mcp/protocol";
import type { CallOutcome, CallRequest } from "./calls.js";
import type { OfferKind, ShownProblem } from "./connections.js";
import type { KeptFile, ReplayReport, WrittenFile } from "./keep.js";
import type { ModelView, Provider } from "./model-view.js";
import type { OfferDetail, OfferList } from "./offers.js";
import type { QuestionAnswer } from "./questions.js";
import type { CopyForm, EntryDetail, EraComparison } from "./timeline.js";

interface Action<I, O> {
  readonly input: I;
  readonly output: O;
}

type Nothing = Readonly<Record<string, never>>;

/** What the page can ask for: `POST /api/<name>` with the input as JSON. */
export interface InspectorActions {
  /** Connects to a target of the terminal, once more if it is connected. */
  connect: Action<{ target: string; revision?: Revision | undefined }, { connection: string }>;
  /** Connects to an address. A page can name no command. */
  connectUrl: Action<
    {
      url: string;
      transport?: "http" | "sse" | undefined;
      revision?: Revision | undefined;
      headers?: Readonly<Record<string, string>> | undefined;
    },
    { connection: string }
  >;
  /** Closes and opens a connection again, with another revision if one is given; `null` negotiates. */
  reopen: Action<{ connection: string; revision?: Revision | null | undefined }, Nothing>;
  /** Ends a connection; its entries stay in the timeline. */
  disconnect: Action<{ connection: string }, Nothing>;
  /** Removes a connection that has ended from the list. */
  forget: Action<{ connection: string }, Nothing>;
  /** Forgets the tokens for a server and reopens it. */
  logout: Action<{ connection: string }, Nothing>;

  list: Action<{ connection: string; kind: OfferKind; refresh?: boolean | undefined }, OfferList>;
  offer: Action<{ connection: string; kind: OfferKind; name: string }, OfferDetail>;
  call: Action<{ connection: string; request: CallRequest }, { call: string }>;
  cancelCall: Action<{ call: string }, Nothing>;
  /** The outcome of a call that has ended. */
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
  subscribe: Action<{ connection: string; uri: string }, Nothing>;
  unsubscribe: Action<{ connection: string; uri: string }, Nothing>;
  /** The page of a tool, and where its sandbox is. */
  appPage: Action<{ connection: string; tool: string }, { readonly page: AppPage; readonly sandbox: string }>;
  setLogLevel: Action<{ connection: string; level: LoggingLevel }, Nothing>;

  answer: Action<{ question: string; answer: QuestionAnswer }, Nothing>;
  setRoots: Action<{ connection: string; roots: readonly Root[] }, Nothing>;

  entry: Action<{ seq: number }, EntryDetail>;
  copy: Action<{ seq: number; form: CopyForm }, { text: string }>;
  /** Forgets the entries of the timeline. */
  clear: Action<Nothing, Nothing>;
  /** Calls a tool over a fresh connection in each era. The user is asked first: it runs twice. */
  compare: Action<
    { connection: string; request: CallRequest; revisions: readonly [Revision, Revision] },
    EraComparison
  >;

  modelView: Action<{ connection: string; provider: Provider }, ModelView>;

  startRecording: Action<Nothing, Nothing>;
  stopRecording: Action<Nothing, Nothing>;
  /** The recording of one connection; of the whole timeline where nothing was recorded. Secrets are taken out. */
  exportSession: Action<{ connection: string }, KeptFile>;
  /** Shows a recording beside the connections. */
  importSession: Action<{ text: string; name: string }, { connection: string }>;
  /** Sends the requests of a session again, to a target of a connection, over a connection of its own. `all`: also tools that change things. */
  replay: Action<{ session: string; against: string; all: boolean }, ReplayReport>;
  /** Ends a replay or a comparison, whose action is then answered with what was done; one that has ended stays as it is. */
  cancelRun: Action<{ run: string }, Nothing>;
  /** One HTML file with the timeline, without secrets. */
  share: Action<Nothing, KeptFile>;
}

export type ActionName = keyof InspectorActions;
export type ActionInput<N extends ActionName> = InspectorActions[N]["input"];
export type ActionOutput<N extends ActionName> = InspectorActions[N]["output"];

/** What every action is answered with. */
export type ActionAnswer<N extends ActionName> =
  | { readonly ok: true; readonly value: ActionOutput<N> }
  | { readonly ok: false; readonly problem: ShownProblem };

/** What the work of an action gives: its output, or a file that is yet to be written. */
export type HandlerOutput<N extends ActionName> = ActionOutput<N> extends KeptFile ? WrittenFile : ActionOutput<N>;

/** Does the work of every action. Inputs come from the page as they are, and are checked by whoever reads them. */
export type ActionHandlers = {
  readonly [N in ActionName]: (input: ActionInput<N>) => HandlerOutput<N> | Promise<HandlerOutput<N>>;
};
