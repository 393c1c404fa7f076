import { render } from "preact";
import { App } from "./app/app.js";
import { followAddress } from "./app/page-address.js";
import { showShared } from "./app/show-shared.js";
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
    // Takes the token out of the address before the address is written to.
    pageToken();
    followAddress();
    void followEvents();
  } else showShared(shared);
  root.replaceChildren();
  render(<App />, root);
}
