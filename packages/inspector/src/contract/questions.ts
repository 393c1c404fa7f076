import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitValue,
} from "@parley/mcp/protocol";

/** A question of a server that waits for the user. */
export interface QuestionInfo {
  readonly id: string;
  readonly connection: string;
  /** The call during which it was asked, if that is known. */
  readonly call?: string | undefined;
  readonly askedMs: number;
  readonly question:
    | { readonly kind: "form"; readonly params: ElicitRequestFormParams }
    | { readonly kind: "url"; readonly params: ElicitRequestURLParams }
    | {
        readonly kind: "sampling";
        readonly params: CreateMessageRequestParams;
        /** What the configured command answered, to be read before it is sent. */
        readonly draft?: CreateMessageResult | undefined;
        /** The configured command is running, or has failed. */
        readonly command?: "running" | "failed" | undefined;
      };
}

/** What the user answers. A form's content is checked against its schema, and refused with what to change. */
export type QuestionAnswer =
  | { readonly action: "accept"; readonly content?: Readonly<Record<string, ElicitValue>> | undefined }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }
  | { readonly action: "sample"; readonly result: CreateMessageResult }
  /** Let the command answer that the terminal configured; its answer becomes the draft. */
  | { readonly action: "run-command" };
