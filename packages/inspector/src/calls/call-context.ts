import { AsyncLocalStorage } from "node:async_hooks";

/** The id of the call in whose course something is sent or asked. Whoever starts a call runs it inside; whoever notes messages reads it. */
export const callContext = new AsyncLocalStorage<string>();
