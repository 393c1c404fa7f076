const MADE = "made by the library, and handed back as it is";
const PART =
  "a part of the runtime, a storage or a transport that somebody writes anew; its contract is tested where it is declared";
const SAME = "the function of `server.tool` and its siblings, given as an object";
const TEST = "called by a test of the application";

/** Types, or single functions, that are no callbacks of an application, and why. */
export const NOT_TRIED: Readonly<Record<string, string>> = {
  AppendLog: PART,
  CallExtras: MADE,
  Channel: PART,
  ChannelReceiver: MADE,
  ClientFacts: MADE,
  ContractClock: TEST,
  Endpoint: MADE,
  Exchange: MADE,
  HandlerContext: MADE,
  HttpContext: MADE,
  HttpFacts: MADE,
  KeyValue: PART,
  LocalServer: MADE,
  "MemoryStorageOptions.clock": PART,
  Observable: MADE,
  Peer: MADE,
  Platform: PART,
  PortLike: PART,
  PromptOffer: SAME,
  PubSub: PART,
  Receiver: MADE,
  RequestContext: MADE,
  Requester: MADE,
  ResourceOffer: SAME,
  ResourceTemplateOffer: SAME,
  "ResponseCache.drop(matches)": "called while the application calls, which gets the error",
  ServerEra: MADE,
  Storage: PART,
  ToolOffer: SAME,
  Transport: PART,
  TransportCase: TEST,
  TransportMaker: PART,
  Validator: PART,
  WebSocketLike: PART,
  "delayedStorage(delay)": TEST,
  "fetchHandler(servable)": MADE,
  "prompt(handler)": SAME,
  "resource(read)": SAME,
  "resourceTemplate(read)": SAME,
  "tool(handler)": SAME,
};
