import type { ClientOptions } from "@parley/mcp";
import { type OAuth, oauth, type TokenStore } from "@parley/mcp/auth";
import { browserLogin } from "@parley/mcp/login";
import { nodeSender } from "@parley/mcp/node";
import { followExchanges } from "./follow-exchanges.js";
import { HttpWatcher, type HttpWatcherOptions } from "./http-watcher.js";
import type { InspectorTarget } from "./inspector-target.js";
import { LoginProgress } from "./login-progress.js";

/** The HTTP side of one attempt to connect to a URL. */
export interface HttpAccess {
  readonly options: Pick<ClientOptions, "auth" | "sender">;
  readonly watcher: HttpWatcher;
  /** Absent for targets that have their own credentials. */
  readonly login?: { readonly progress: LoginProgress; readonly credentials: OAuth } | undefined;
}

/** Options of `httpAccess`, besides the target. */
export interface HttpAccessOptions extends Omit<HttpWatcherOptions, "login"> {
  readonly tokens: TokenStore;
  readonly loginChanged: (progress: LoginProgress) => void;
}

/**
 * Creates the access for one attempt. Opens no browser: the page shows the address of the login, and the user opens it.
 */
export function httpAccess({ authorized }: InspectorTarget, options: HttpAccessOptions): HttpAccess {
  const { tokens, loginChanged, ...watcherOptions } = options;
  const sender = (watcher: HttpWatcher) => followExchanges(nodeSender(), (request) => watcher.follow(request));
  if (authorized === true) {
    const watcher = new HttpWatcher(watcherOptions);
    return { options: { sender: sender(watcher) }, watcher };
  }
  const progress = new LoginProgress(() => loginChanged(progress));
  const watcher = new HttpWatcher({ ...watcherOptions, login: progress });
  const credentials = oauth({
    login: progress.observe(browserLogin({ open: () => {} })),
    store: tokens,
    registration: { client_name: "Parley inspector" },
  });
  return {
    options: { sender: sender(watcher), auth: credentials },
    watcher,
    login: { progress, credentials },
  };
}
