import type { ClientOptions } from "@parley/mcp";
import { type OAuth, oauth, type TokenStore } from "@parley/mcp/auth";
import { browserLogin } from "@parley/mcp/login";
import { nodeSender } from "@parley/mcp/node";
import { HttpWatcher, type HttpWatcherParts } from "./http-watcher.js";
import type { InspectorTarget } from "./inspector-target.js";
import { LoginProgress } from "./login-progress.js";
import { watchedSender } from "./watched-sender.js";

/** How one attempt to connect reaches a URL: what is seen of its exchanges, and how it logs in. */
export interface HttpAccess {
  readonly options: Pick<ClientOptions, "auth" | "sender">;
  readonly watcher: HttpWatcher;
  /** Absent for targets that bring credentials of their own. */
  readonly login?: { readonly progress: LoginProgress; readonly credentials: OAuth } | undefined;
}

/** What access to a URL needs besides the target. */
export interface HttpAccessParts extends Omit<HttpWatcherParts, "login"> {
  readonly tokens: TokenStore;
  readonly loginChanged: (progress: LoginProgress) => void;
}

/** Makes the access of an attempt. No browser is opened: the page shows the address of the login, and the user opens it. */
export function httpAccess({ authorized }: InspectorTarget, parts: HttpAccessParts): HttpAccess {
  const { tokens, loginChanged, ...watched } = parts;
  const sender = (watcher: HttpWatcher) => watchedSender(nodeSender(), (request) => watcher.follow(request));
  if (authorized === true) {
    const watcher = new HttpWatcher(watched);
    return { options: { sender: sender(watcher) }, watcher };
  }
  const progress = new LoginProgress(() => loginChanged(progress));
  const watcher = new HttpWatcher({ ...watched, login: progress });
  const credentials = oauth({
    login: progress.watched(browserLogin({ open: () => {} })),
    store: tokens,
    registration: { client_name: "Parley inspector" },
  });
  return {
    options: { sender: sender(watcher), auth: credentials },
    watcher,
    login: { progress, credentials },
  };
}
