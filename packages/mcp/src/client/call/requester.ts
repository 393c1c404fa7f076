import type { ParamHeader } from "../../era/param-headers.js";
import type { Id, Params } from "../../jsonrpc/message.js";
import type { CallOptions } from "../options.js";

/** More than the user says about a call: what a feature adds on the way. */
export interface CallExtras {
  /** Arguments that headers have to repeat. */
  mirrored?: readonly ParamHeader[];
  /** The call is known to be safe to repeat, whatever its method says. */
  idempotent?: boolean;
  /** Sent while the connection recovers, as a part of that. */
  recovering?: boolean;
  /** Told the id of each request that stands for the call. */
  onSent?(id: Id): void;
}

/** All that a feature needs: it sends requests, and says what it had to mend. */
export interface Requester {
  readonly strict: boolean;
  call(method: string, params?: Params, options?: CallOptions, extras?: CallExtras): Promise<Record<string, unknown>>;
  warn(message: string): void;
}
