import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitValue,
} from "@parley/mcp/protocol";

/** A question that a server asks the user, by elicitation or sampling. */
export interface QuestionInfo {
  readonly id: string;
  readonly connection: string;
  /** The call during which the server asked the question, if known. */
  readonly call?: string | undefined;
  readonly askedMs: number;
  readonly question:
    | { readonly kind: "form"; readonly params: ElicitRequestFormParams }
    | { readonly kind: "url"; readonly params: ElicitRequestURLParams }
    | {
        readonly kind: "sampling";
        readonly params: CreateMessageRequestParams;
        /** The answer of the configured command. The user reviews the answer before it is sent. */
        readonly draft?: CreateMessageResult | undefined;
        /** The state of the configured command. */
        readonly command?: "running" | "failed" | undefined;
      };
}

/** The answer of the user. The content of a form is validated against its schema. */
export type QuestionAnswer =
  | { readonly action: "accept"; readonly content?: Readonly<Record<string, ElicitValue>> | undefined }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }
  | { readonly action: "sample"; readonly result: CreateMessageResult }
  /** Runs the command that the inspector was started with. The answer of the command becomes the draft. */
  | { readonly action: "run-command" };
