import { type AppToolCall, showApp } from "@parley/mcp/apps";
import { type CallToolResult, printable, type Tool } from "@parley/mcp/protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import type { CallOutcome } from "../../../src/contract/calls.js";
import type { ConnectionInfo, ProblemInfo } from "../../../src/contract/connections.js";
import { act } from "../../backend/act.js";
import { inspectorState } from "../../backend/page-state.js";
import { CodeText } from "../../parts/code-text.js";
import { Dialog } from "../../parts/dialog.js";
import { openOutside } from "../../parts/outside-address.js";
import { ProblemNote } from "../../parts/problem-note.js";
import { shownFailure } from "../../parts/use-action.js";
import { appServer } from "./app-server.js";

interface AppFrameProps {
  readonly connection: ConnectionInfo;
  /** The definition of the tool that owns the app. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly outcome: CallOutcome;
}

/** A request from an app that needs the consent of the user. */
interface ConsentRequest {
  readonly title: string;
  readonly shown: string;
  readonly answer: (agreed: boolean) => void;
}

/** Maximum number of log lines of an app, including rejected requests. The oldest lines are dropped. */
const MAX_LOG_LINES = 50;

/**
 * The app of a tool in its sandbox, with the result of a call. The app can do nothing on the server without the consent
 * of the user.
 */
export function AppFrame({ connection, definition, outcome }: AppFrameProps) {
  const container = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<ProblemInfo>();
  const [answered, setAnswered] = useState(false);
  // The waiting requests, oldest first. The library limits their number.
  const [consents, setConsents] = useState<readonly ConsentRequest[]>([]);
  const [consent] = consents;
  const [lines, setLines] = useState<readonly string[]>([]);
  useEffect(() => {
    const ended = new AbortController();
    const ask = (title: string, shown: string, signal: AbortSignal) =>
      new Promise<boolean>((resolve) => {
        const answer = (agreed: boolean) => {
          setConsents((before) => before.filter((each) => each !== asked));
          resolve(agreed);
        };
        const asked: ConsentRequest = { title, shown, answer };
        signal.addEventListener("abort", () => answer(false));
        setConsents((before) => [...before, asked]);
      });
    const note = (line: string) => setLines((before) => [...before, line].slice(-MAX_LOG_LINES));
    const element = container.current;
    if (element !== null) {
      mountApp(element, { connection, definition, outcome }, { ask, note, signal: ended.signal }).then(
        () => setAnswered(true),
        (reason: unknown) => {
          if (!ended.signal.aborted) setProblem(shownFailure(reason));
        },
      );
    }
    return () => ended.abort();
    // The effect depends only on the call, because each call shows its app once. Other changes must not restart the
    // app.
  }, [outcome.call.id]);
  return (
    <section class="use-app" aria-label="App of the tool">
      <h3>App</h3>
      <p class="soft" role="status">
        {answered || problem !== undefined
          ? "Runs in a sandbox. You are asked before it calls the server, opens a link or sends a message."
          : "Runs in a sandbox. Waiting for the app…"}
      </p>
      {problem !== undefined && <ProblemNote problem={problem} />}
      <div class="use-app-frame" ref={container} />
      {lines.length > 0 && <CodeText text={lines.join("\n")} label="App log" />}
      {consent !== undefined && (
        <Dialog title={consent.title} onClose={() => consent.answer(false)}>
          <CodeText text={consent.shown} label="Request of the app" />
          <div class="parts-actions">
            <button type="button" class="main" onClick={() => consent.answer(true)}>
              Allow once
            </button>
            <button type="button" onClick={() => consent.answer(false)}>
              Deny
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

interface UserPrompts {
  readonly ask: (title: string, shown: string, signal: AbortSignal) => Promise<boolean>;
  readonly note: (line: string) => void;
  readonly signal: AbortSignal;
}

async function mountApp(
  container: HTMLDivElement,
  { connection, definition, outcome }: AppFrameProps,
  user: UserPrompts,
): Promise<void> {
  const { request, result } = outcome;
  if (request.kind !== "tool" || result === undefined) return;
  const { page, sandbox } = await act("appPage", { connection: connection.id, tool: request.name });
  if (user.signal.aborted) return;
  const app = showApp(page, {
    container,
    sandbox,
    server: appServer(connection.id),
    hostInfo: { name: "parley-inspector", version: inspectorState.value?.version ?? "0" },
    // The client has validated the tool list.
    tool: definition as unknown as Tool,
    context: { theme: isDark() ? "dark" : "light", locale: navigator.language },
    mayCallTool: ({ tool, arguments: args, signal }: AppToolCall) =>
      user.ask(`The app wants to call ${printable(tool.name)}`, JSON.stringify(args, null, 2), signal),
    mayReadResource: (uri, signal) => user.ask("The app wants to read a resource", printable(uri), signal),
    openLink: async (url, signal) => {
      const agreed = await user.ask("The app wants to open a URL in a new tab", printable(url), signal);
      if (agreed) openOutside(url);
      return agreed;
    },
    sendMessage: (message, signal) =>
      user.ask("The app wants to add a message to the conversation", JSON.stringify(message, null, 2), signal),
    updateModelContext: (context) => {
      user.note(`for the model: ${printable(JSON.stringify(context))}`);
      return true;
    },
    onLog: (message) => user.note(`log: ${printable(JSON.stringify(message))}`),
    onRefused: ({ method, reason }) => user.note(`refused: ${printable(`${method ?? "message"}: ${reason}`)}`),
    onWarning: (message) => user.note(`warning: ${printable(message)}`),
  });
  user.signal.addEventListener("abort", () => void app.close("the inspector shows something else"));
  void app.closed.then((reason) => user.note(`closed: ${printable(String(reason))}`));
  app.toolInput(request.arguments);
  // The client has validated the result of the tool.
  app.toolResult(result as unknown as CallToolResult);
  await app.ready;
}

function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
}
