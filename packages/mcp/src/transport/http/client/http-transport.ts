import { platform as runtimePlatform } from "#platform";
import { transports } from "#transports";
import { fetchSender } from "../../../http/fetch-sender.js";
import type { Fetch, Platform } from "../../../platform/platform.js";
import type { Transport } from "../../transport.js";
import { type HttpConnectionOptions, httpClientTransport } from "./client.js";

/** How an HTTP transport reaches its server. */
export interface HttpTransportOptions extends HttpConnectionOptions {
  /** Sends the requests; default the fastest way of the runtime. */
  fetch?: Fetch | undefined;
  /** Replaces parts of the runtime, for example its clock in a test. */
  platform?: Partial<Platform> | undefined;
}

/**
 * A client transport over Streamable HTTP. `connect(url)` makes one by itself; make it by hand to set what `connect` has no
 * option for. A transport serves one connection: give `connect` the object `{ makeTransport: () => httpTransport(url) }`
 * where a lost connection is to be opened again.
 */
export function httpTransport(url: string | URL, options: HttpTransportOptions = {}): Transport {
  const { fetch, platform: replaced, ...rest } = options;
  const platform: Platform = { ...runtimePlatform, ...replaced };
  const sender = fetch === undefined ? transports.sender(platform) : fetchSender(fetch);
  return httpClientTransport(url, { ...rest, sender, platform });
}
