/** Who sent a message. */
export type Sender = "client" | "server";

/** A judge of single messages. It is written without the library's own guards, so that it does not share their mistakes. */
export interface MessageOracle {
  readonly name: string;
  /** Says what is wrong with a message, or nothing. `requestMethod` is the method that a result answers. */
  validate(revision: string, sender: Sender, message: WireObject, requestMethod?: string): string[];
}

/** What an extension may add without being called unknown. */
export interface KnownExtensions {
  methods: ReadonlySet<string>;
  resultTypes: ReadonlySet<string>;
}

export type WireObject = { [key: string]: unknown };

export type MessageKind = "request" | "notification" | "result" | "error" | "invalid";

export function isWireObject(value: unknown): value is WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sorts a message by the members that are there, right or wrong in type; the schemas judge the types. */
export function kindOf(message: WireObject): MessageKind {
  const has = (key: string) => Object.hasOwn(message, key);
  if (has("method")) return has("result") || has("error") ? "invalid" : has("id") ? "request" : "notification";
  if (has("result")) return has("error") ? "invalid" : "result";
  return has("error") ? "error" : "invalid";
}
