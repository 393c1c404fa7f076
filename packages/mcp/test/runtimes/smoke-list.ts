/**
 * The scenarios that every other runtime runs with each `npm test`; `npm run test:runtimes` runs all there are.
 *
 * Chosen so that each thing which a runtime provides, and each path through the library, is met at least once.
 */
export const SMOKE: Readonly<Record<string, string>> = {
  "capabilities-declared.ts": "the handshake and the discovery, before anything else",
  "tools-call-structured.ts": "the ordinary call, with a schema on both sides",
  "tools-content.ts": "bytes as base64, which runtimes convert differently",
  "tools-errors.ts": "errors of handlers, with what a runtime adds to them",
  "tools-cancelled.ts": "AbortSignal from the client's hand to the handler",
  "tools-timeout.ts": "timers of the server",
  "prompts-get.ts": "prompts, which no other of these meets",
  "client-in-flight.ts": "many calls at once over one connection",
  "client-errors.ts": "every kind of error across the wire",
  "client-close-pending.ts": "a connection that is closed while calls wait",
  "progress-delivered.ts": "an answer that becomes an event stream",
  "logging-level.ts": "notifications that belong to a call",
  "questions-form.ts": "a question in both eras: a request on the stream, and a replay",
  "questions-sampling.ts": "a question to the model in both eras",
  "questions-steps.ts": "sealed state: AES-GCM, HKDF, digests and random bytes",
  "pages-every-list.ts": "sealed cursors, and lists of every kind",
  "tools-overflow-link.ts": "half a megabyte through a pipe, which fills up differently everywhere",
  "resources-subscribe.ts": "the standing stream and the listen stream",
  "list-changed-coalesced.ts": "work that is put off to the end of a turn",
  "ping.ts": "a connection that lives while something runs",
};
