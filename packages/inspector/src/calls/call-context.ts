import { AsyncLocalStorage } from "node:async_hooks";

/**
 * The id of the current call. `RunningCalls` sets the id, and connections read it to assign messages and questions to
 * the call.
 */
export const callContext = new AsyncLocalStorage<string>();
