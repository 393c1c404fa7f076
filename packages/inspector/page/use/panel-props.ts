import { useState } from "preact/hooks";
import type { CallRequest } from "../../src/contract/calls.js";
import type { ConnectionInfo, ShownProblem } from "../../src/contract/connections.js";
import type { OfferDetail, OfferSummary } from "../../src/contract/offers.js";
import { act } from "../backend/act.js";
import { useAction } from "../parts/use-action.js";
import { useRemembered } from "./use-remembered.js";

/** What the panel of one offer is given. */
export interface PanelProps {
  readonly connection: ConnectionInfo;
  readonly name: string;
  readonly summary?: OfferSummary | undefined;
  readonly offer: OfferDetail;
  /** Goes to a resource and reads it. */
  readonly onRead: (uri: string) => void;
}

/** Calls from a panel. */
export interface PanelCalls {
  /** The call whose outcome is shown. */
  readonly shown: string | undefined;
  show(call: string): void;
  start(request: CallRequest): void;
  /** A call is being started. */
  readonly busy: boolean;
  readonly problem: ShownProblem | undefined;
  /** Something was started from here: the user wants to know what is wrong with the form. */
  readonly tried: boolean;
}

/** Starts the calls of a panel, and remembers which is shown. */
export function usePanelCalls(connection: string, about: string): PanelCalls {
  const [shown, show] = useRemembered<string | undefined>(`shown ${connection} ${about}`, () => undefined);
  const { run, busy, problem } = useAction();
  const [tried, setTried] = useState(false);
  const start = (request: CallRequest) => {
    // A second press. The button only says so meanwhile: one that is disabled would lose the focus.
    if (busy) return;
    setTried(true);
    run(async () => {
      const { call } = await act("call", { connection, request });
      show(call);
    });
  };
  return { shown, show, start, busy, problem, tried };
}

/** Ctrl or Command and Enter: what runs a form from any of its fields. */
export function isRunKey(event: KeyboardEvent): boolean {
  return event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat;
}
