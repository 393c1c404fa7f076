import type { RequestParams, Result } from "../message.js";
import type { ElicitRequestParams, ElicitResult } from "./elicitation.js";
import type { ListRootsRequestParams, ListRootsResult } from "./roots.js";
import type { CreateMessageRequestParams, CreateMessageResult } from "./sampling.js";

/** An elicitation inside an interim result. */
export interface ElicitInputRequest {
  method: "elicitation/create";
  params: ElicitRequestParams;
}

/** A sampling request inside an interim result. */
export interface CreateMessageInputRequest {
  method: "sampling/createMessage";
  params: CreateMessageRequestParams;
}

/** A request for the client's roots inside an interim result. */
export interface ListRootsInputRequest {
  method: "roots/list";
  params?: ListRootsRequestParams;
}

/** One question of the server to the client. From 2026-07-28 on. */
export type InputRequest = ElicitInputRequest | CreateMessageInputRequest | ListRootsInputRequest;

/** The answer to one question. From 2026-07-28 on. */
export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult;

/** Questions by keys that the server chose. From 2026-07-28 on. */
export interface InputRequests {
  [key: string]: InputRequest;
}

/** Answers by the keys of their questions. From 2026-07-28 on. */
export interface InputResponses {
  [key: string]: InputResponse;
}

/** An interim result: the client answers and sends its request again. At least one of the two members is present. From 2026-07-28 on. */
export interface InputRequiredResult extends Result {
  resultType: "input_required";
  inputRequests?: InputRequests;
  /** Returned unchanged with the next attempt; opaque to the client. */
  requestState?: string;
}

/** Parameters of a request that the server may answer with questions. The two members exist from 2026-07-28 on. */
export interface InputResponseRequestParams extends RequestParams {
  inputResponses?: InputResponses;
  requestState?: string;
}
