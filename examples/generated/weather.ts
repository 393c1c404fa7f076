// Typed calls of the server "weather", written by `parley types`. Run it again when the server changes.
/* eslint-disable */
import type { CallOptions, ClientOf, Server } from "@parley/mcp";
import type { GetPromptResult, ReadResourceResult } from "@parley/mcp/protocol";

/** A client of the server, typed or not: what `connect` gives. */
export interface AnyClient {
  call(name: never, args: never, options?: CallOptions): Promise<unknown>;
  getPrompt(name: never, args: never, options?: CallOptions): Promise<GetPromptResult>;
  readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult>;
}

/** The tools by name, with their arguments and results. */
export interface Tools {
  "get-forecast": { args: GetForecastArguments; result: GetForecastResult };
  list_cities: { args: ListCitiesArguments; result: string };
}

/** The prompts by name, with their arguments. */
export interface Prompts {
  summary: SummaryPromptArguments;
}

/** The server's type: `connect<RemoteServer>(target)` gives a client whose own methods are typed. */
export type RemoteServer = Server<Record<string, unknown>, Tools, Prompts>;

/** What `connect<RemoteServer>(target)` gives. */
export type RemoteClient = ClientOf<RemoteServer>;

export type GetForecastArguments = {
  /** one of the known cities */
  city: string;
  /** how many */
  days?: number;
};
export type GetForecastResult = {
  celsius: number[];
  city: string;
};
/** The temperatures of the next days. */
export function getForecast(client: AnyClient, args: GetForecastArguments, options?: CallOptions): Promise<GetForecastResult> {
  return invoke(client, "get-forecast", args, options);
}

export type ListCitiesArguments = { [key: string]: never };
/** The cities that are known. */
export function listCities(client: AnyClient, args?: ListCitiesArguments, options?: CallOptions): Promise<string> {
  return invoke(client, "list_cities", args, options);
}

export type SummaryPromptArguments = {
  city: string;
};
export function summaryPrompt(client: AnyClient, args: SummaryPromptArguments, options?: CallOptions): Promise<GetPromptResult> {
  return client.getPrompt("summary" as never, args as never, options);
}

export function climateResource(client: AnyClient, variables: { city: string }, options?: CallOptions): Promise<ReadResourceResult> {
  return client.readResource("climate://" + expanded(variables["city"]), options);
}

/** Calls a tool; its types come from the server's own schemas. */
function invoke<R>(client: AnyClient, name: string, args: unknown, options: CallOptions | undefined): Promise<R> {
  return client.call(name as never, args as never, options) as Promise<R>;
}

/** A value as a part of an address. */
function expanded(value: string): string {
  return encodeURIComponent(value).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
