/** A name that must not come back. */
export interface BannedName {
  readonly name: string;
  /** The word to use. */
  readonly instead: string;
  /** The folder where it misleads; everywhere if left out. */
  readonly within?: string;
}

/** They were metaphors, or said nothing, or meant two things. */
export const BANNED_NAMES: readonly BannedName[] = [
  { name: "Visit", instead: "HttpExchange for a request, PageToVisit for a page to open" },
  { name: "SessionDesk", instead: "SessionRoutes" },
  { name: "createSessionDesk", instead: "createSessionRoutes" },
  { name: "knock", instead: "checkRequest" },
  { name: "Site", instead: "ServerContext", within: "transport/" },
  { name: "Doors", instead: "OriginGuard" },
  { name: "Lane", instead: "ReplyStream" },
  { name: "sessionLane", instead: "a reply's stream" },
  { name: "Member", instead: "RunningRequest" },
  { name: "Overdue", instead: "a deadline of the exchange" },
  { name: "Line", instead: "HttpRequests" },
  { name: "LineOptions", instead: "HttpRequestsOptions" },
  { name: "LegacyLines", instead: "LegacyConnections" },
  { name: "Epoch", instead: "HandshakeState" },
  { name: "STANDING", instead: "GET_STREAM_ID or ENDLESS_METHODS" },
  { name: "ENDLESS", instead: "ENDLESS_METHODS" },
  { name: "Run", instead: "ServerCall on a server, Validation of a schema" },
  { name: "Made", instead: "MaybePromise<CallToolResult>" },
  { name: "Soon", instead: "MaybePromise" },
  { name: "toFirstForm", instead: "downgradeForm" },
  { name: "fromFirstAnswer", instead: "upgradeAnswer" },
  { name: "KnownTool", instead: "ListedTool" },
  { name: "ToolBook", instead: "KnownTools" },
  { name: "Link", instead: "ClientConnection" },
  { name: "Greeter", instead: "Attempt" },
  { name: "greetAtOnce", instead: "skipProbe" },
  { name: "eitherWay", instead: "probeAndHandshake" },
  { name: "speaksOther", instead: "handshakeInStatedRevision" },
  { name: "orGreet", instead: "fallBackToHandshake" },
  { name: "stateMs", instead: "answerMs" },
  { name: "Origin", instead: "RequestSource", within: "era/" },
  { name: "Lifecycle", instead: "EraResult" },
  { name: "opens", instead: "session" },
  { name: "brokenOff", instead: "networkError" },
  { name: "Asked", instead: "SentRequest" },
  { name: "whileWanted", instead: "askUntilSettled" },
  { name: "handled", instead: "neverUnhandled", within: "server/" },
  { name: "StreamHome", instead: "StreamStorage" },
  { name: "SessionNews", instead: "NodeMessage" },
  { name: "SessionKeeper", instead: "SessionStore" },
  { name: "VerdictCache", instead: "RevisionCache" },
  { name: "placeOf", instead: "resumePointKey", within: "transport/" },
  { name: "said", instead: "what it holds" },
];
