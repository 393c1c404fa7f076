import { effect } from "@preact/signals";
import { chosenConnection, currentView, VIEWS, type ViewId } from "../backend/page-state.js";

/** Reads the view and the connection from the hash of the address, such as `#timeline/c2`. */
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

/** Mirrors the view and the connection in the address, so that a reload and the back button restore them. */
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
    // The address has no hash only when the page was just opened. That address is replaced, not added to the history,
    // so that the back button leaves the page.
    if (location.hash === "") history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  });
}
