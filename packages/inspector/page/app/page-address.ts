import { effect } from "@preact/signals";
import { chosenConnection, currentView, VIEWS, type ViewId } from "../backend/page-state.js";

/** What the end of the address says: `#timeline/c2`. */
export function readAddress(hash: string): { view?: ViewId; connection?: string } {
  const [view = "", connection = ""] = hash.replace(/^#/, "").split("/");
  const known = VIEWS.find((id) => id === view);
  return {
    ...(known === undefined ? {} : { view: known }),
    ...(connection === "" ? {} : { connection: decodedPart(connection) }),
  };
}

function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Keeps view and connection in the address, so that a reload and the back button show what they should. */
export function followAddress(): void {
  const read = () => {
    const { view, connection } = readAddress(location.hash);
    if (view !== undefined) currentView.value = view;
    if (connection !== undefined) chosenConnection.value = connection;
  };
  read();
  addEventListener("hashchange", read);
  effect(() => {
    const connection = chosenConnection.value;
    const hash = `#${currentView.value}${connection === undefined ? "" : `/${encodeURIComponent(connection)}`}`;
    if (location.hash === hash) return;
    // The first address of a visit is no place to come back to.
    if (location.hash === "") history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  });
}
