import { platform as runtimePlatform } from "#platform";
import { transports } from "#transports";
import { fetchSender, guardedSender } from "../../../http/fetch-sender.js";
import type { Sender } from "../../../http/http.js";
import { type Fetch, type Platform, replacedPlatform } from "../../../platform/platform.js";
import { checkOptions } from "../../../protocol/check-options.js";
import type { Transport } from "../../transport.js";
import { type HttpConnectionOptions, httpClientTransport } from "./client.js";

/** Options for `httpTransport`. */
export interface HttpTransportOptions extends HttpConnectionOptions {
  /** Sends the requests. Default: the fastest HTTP client of the runtime. */
  fetch?: Fetch | undefined;
  /** Sends the requests in place of `fetch`. Use `nodeSender` of `@parley/mcp/node` to pass agents. */
  sender?: Sender | undefined;
  /** Replaces parts of the runtime, for example its clock in a test. */
  platform?: Partial<Platform> | undefined;
}

/**
 * Creates a client transport over Streamable HTTP. `connect(url)` creates its transport itself; call this function for
 * settings that `connect` has no option for. A transport serves one connection. To let `connect` reconnect, pass `{
 * makeTransport: () => httpTransport(url) }` to it.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function httpTransport(url: string | URL, options: HttpTransportOptions = {}): Transport {
  checkOptions(
    "httpTransport",
    options,
    "headers timeouts maxMessageBytes getStream maxReconnects allowCrossOriginRedirects fetch sender platform",
  );
  const { fetch, sender: own, platform: replaced, ...rest } = options;
  const platform = replacedPlatform(runtimePlatform, replaced);
  const standard = fetch === undefined ? transports.sender : () => fetchSender(fetch);
  const sender = own === undefined ? standard(platform) : guardedSender(own);
  return httpClientTransport(url, { ...rest, sender, platform });
}
