import { render } from "preact";
import { App } from "./app/app.js";
import { loadSharedSession } from "./app/load-shared-session.js";
import { followAddress } from "./app/page-address.js";
import { applyStoredTheme } from "./app/theme-switch.js";
import { showVisibleText } from "./app/visible-text.js";
import { pageToken } from "./backend/act.js";
import { followEvents } from "./backend/follow-events.js";
import { sharedSession } from "./backend/shared-session.js";

const root = document.getElementById("inspector");
if (root !== null) {
  applyStoredTheme();
  showVisibleText();
  const shared = sharedSession();
  if (shared === undefined) {
    // Removes the token from the address before `followAddress` writes to it.
    pageToken();
    followAddress();
    void followEvents();
  } else loadSharedSession(shared);
  root.replaceChildren();
  render(<App />, root);
}
