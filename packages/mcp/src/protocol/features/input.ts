import type { RequestParams, Result } from "../message.js";
import type { ElicitRequestParams, ElicitResult } from "./elicitation.js";
import type { ListRootsRequestParams, ListRootsResult } from "./roots.js";
import type { CreateMessageRequestParams, CreateMessageResult } from "./sampling.js";

/** An elicitation inside an interim result. */
export interface ElicitInputRequest {
  /** The method that selects the type of `params`. */
  method: "elicitation/create";
  /** The form or the URL for the user. */
  params: ElicitRequestParams;
}

/** A sampling request inside an interim result. */
export interface CreateMessageInputRequest {
  /** The method that selects the type of `params`. */
  method: "sampling/createMessage";
  /** The messages for the model, and how to sample. */
  params: CreateMessageRequestParams;
}

/** A request for the client's roots inside an interim result. */
export interface ListRootsInputRequest {
  /** The method that selects the type of `params`. */
  method: "roots/list";
  /** Metadata only. */
  params?: ListRootsRequestParams;
}

/** A request of the server to the client inside an interim result. From 2026-07-28 on. */
export type InputRequest = ElicitInputRequest | CreateMessageInputRequest | ListRootsInputRequest;

/** The client's answer to one request of an interim result. From 2026-07-28 on. */
export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult;

/** Requests to the client, by keys that the server chose. From 2026-07-28 on. */
export interface InputRequests {
  [key: string]: InputRequest;
}

/** Answers by the keys of their requests. From 2026-07-28 on. */
export interface InputResponses {
  [key: string]: InputResponse;
}

/**
 * An interim result: the client answers the requests and repeats its own request. At least one of `inputRequests` and
 * `requestState` is present. From 2026-07-28 on.
 */
export interface InputRequiredResult extends Result {
  resultType: "input_required";
  /** The requests that the client answers in `inputResponses` of the next attempt. */
  inputRequests?: InputRequests;
  /** State that the client returns unchanged with the next attempt. Opaque to the client. */
  requestState?: string;
}

/**
 * Parameters of a request that the server may answer with an interim result. Both members exist from 2026-07-28 on.
 */
export interface InputResponseRequestParams extends RequestParams {
  /** Answers to the `inputRequests` of the interim result. */
  inputResponses?: InputResponses;
  /** The `requestState` of the interim result, unchanged. */
  requestState?: string;
}
