import { useEffect, useState } from "preact/hooks";
import type { ConnectionInfo, OfferKind, ProblemInfo } from "../../src/contract/connections.js";
import type { OfferDetail, OfferList } from "../../src/contract/offers.js";
import { act } from "../backend/act.js";
import { shownFailure } from "../parts/use-action.js";

/** A list and its loading state. */
export interface LoadedList {
  readonly list?: OfferList | undefined;
  readonly problem?: ProblemInfo | undefined;
  readonly loading: boolean;
  /** Requests the list again. */
  refresh(): void;
}

/**
 * Maximum number of cached lists. With the cache, returning to a connection shows its lists at once. Only a few lists
 * are cached, because a list may be large.
 */
const MAX_CACHED_LISTS = 20;
const lists = new Map<string, OfferList>();

function cacheList(key: string, list: OfferList): void {
  lists.delete(key);
  lists.set(key, list);
  const [oldest] = lists.keys();
  if (lists.size > MAX_CACHED_LISTS && oldest !== undefined) lists.delete(oldest);
}

/** Loads a list of a server, and reloads it after each change notification. */
export function useOffers(connection: ConnectionInfo, kind: OfferKind): LoadedList {
  const version = connection.lists[kind];
  const key = `${connection.id} ${kind} ${connection.opened} ${version}`;
  const [state, setState] = useState<Omit<LoadedList, "refresh">>({ list: lists.get(key), loading: true });
  const [asked, setAsked] = useState(0);
  const isThere = connection.status === "ready" && version !== undefined;
  useEffect(() => {
    const known = lists.get(key);
    if (!isThere || (known !== undefined && asked === 0)) {
      setState({ list: known, loading: false });
      return;
    }
    let current = true;
    setState((before) => ({ list: before.list, loading: true }));
    act("list", { connection: connection.id, kind, refresh: asked > 0 }).then(
      (list) => {
        cacheList(key, list);
        if (current) setState({ list, loading: false });
      },
      (reason: unknown) => current && setState({ loading: false, problem: shownFailure(reason) }),
    );
    return () => {
      current = false;
    };
  }, [key, isThere, asked, connection.id, kind]);
  return { ...state, refresh: () => setAsked(asked + 1) };
}

/** Loads the full definition of an offer. A new `version` triggers a reload. */
export function useOffer(
  connection: string,
  kind: OfferKind,
  name: string,
  version: number | undefined,
): { readonly offer?: OfferDetail | undefined; readonly problem?: ProblemInfo | undefined } {
  const [state, setState] = useState<{ offer?: OfferDetail; problem?: ProblemInfo }>({});
  useEffect(() => {
    let current = true;
    act("offer", { connection, kind, name }).then(
      (offer) => current && setState({ offer }),
      (reason: unknown) => current && setState({ problem: shownFailure(reason) }),
    );
    return () => {
      current = false;
    };
  }, [connection, kind, name, version]);
  return state;
}
