import type { Client, ClientOptions } from "@parley/mcp";
import type { TargetInfo } from "../contract/connections.js";

/** What a target tells besides messages. */
export interface TargetHooks {
  /** A line that the program of the server wrote to stderr. */
  onStderr(line: string): void;
}

/** A server that can be inspected. Only the terminal, or the program that starts the inspector, gives targets that run code. */
export interface InspectorTarget {
  readonly kind: TargetInfo["kind"];
  /** As a command line would name it, without secrets. */
  readonly shown: string;
  /** Opens a connection with these options, besides those that the target has itself, such as headers. */
  open(options: ClientOptions, hooks: TargetHooks): Promise<Client>;
  /** Where it is, for `curl`; of targets of the kind `url`. */
  readonly url?: string | undefined;
  /** The program and its arguments, for copied code; of targets of the kind `command`. */
  readonly command?: readonly string[] | undefined;
  /** Values of its headers and variables, which are shown nowhere. */
  readonly secrets?: readonly string[] | undefined;
  /** It brings credentials of its own, so that the inspector begins no login. */
  readonly authorized?: boolean | undefined;
}
