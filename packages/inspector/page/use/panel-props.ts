import { useState } from "preact/hooks";
import type { CallRequest } from "../../src/contract/calls.js";
import type { ConnectionInfo, ProblemInfo } from "../../src/contract/connections.js";
import type { OfferDetail, OfferSummary } from "../../src/contract/offers.js";
import { act } from "../backend/act.js";
import { useAction } from "../parts/use-action.js";
import { useCachedState } from "./use-cached-state.js";

/** The props of the panel of one offer. */
export interface PanelProps {
  readonly connection: ConnectionInfo;
  readonly name: string;
  readonly summary?: OfferSummary | undefined;
  readonly offer: OfferDetail;
  /** Selects a resource and reads it. */
  readonly onRead: (uri: string) => void;
}

/** The calls of a panel. */
export interface PanelCalls {
  /** The call whose outcome is shown. */
  readonly shown: string | undefined;
  show(call: string): void;
  start(request: CallRequest): void;
  /** True while a call is being started. */
  readonly busy: boolean;
  readonly problem: ProblemInfo | undefined;
  /** True after the first attempt to start a call. From then on, the form reports invalid values. */
  readonly tried: boolean;
}

/** Starts the calls of a panel and stores which call is shown. */
export function usePanelCalls(connection: string, about: string): PanelCalls {
  const [shown, show] = useCachedState<string | undefined>(`shown ${connection} ${about}`, () => undefined);
  const { run, busy, problem } = useAction();
  const [tried, setTried] = useState(false);
  const start = (request: CallRequest) => {
    // Ignores a second press. The button uses `aria-disabled`, because a disabled button would lose the focus.
    if (busy) return;
    setTried(true);
    run(async () => {
      const { call } = await act("call", { connection, request });
      show(call);
    });
  };
  return { shown, show, start, busy, problem, tried };
}

/** True for Ctrl+Enter and Command+Enter, which run a form from any of its fields. */
export function isRunKey(event: KeyboardEvent): boolean {
  return event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat;
}
