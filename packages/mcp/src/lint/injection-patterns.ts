/** A way in which texts of tools give orders to a model. Each pattern is bounded, so that it runs in linear time. */
export interface InjectionPattern {
  readonly pattern: RegExp;
  readonly message: string;
}

/** Orders to forget what the model was told before. */
export const OVERRIDES: readonly InjectionPattern[] = [
  {
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}?\b(?:previous|prior|earlier|above|preceding|all|any|other|system|your|existing)\b.{0,30}?\b(?:instructions?|prompts?|rules|guidelines|directives|restrictions)\b/,
    message: "the text tells the model to ignore its instructions",
  },
  {
    pattern: /\b(?:new|updated|real|true|secret|hidden|system) (?:system )?(?:instructions?|directives?) ?:/,
    message: "the text gives the model new instructions",
  },
  {
    pattern: /\b(?:you are now|from now on,? you|enter developer mode|developer mode enabled|jailbreak)\b/,
    message: "the text gives the model another role",
  },
  {
    pattern: /\b(?:reveal|print|repeat|output|leak|return) (?:\w+ ){0,3}system prompt\b/,
    message: "the text asks for the system prompt",
  },
];

/** Orders to keep something from the user. */
export const SECRECY: readonly InjectionPattern[] = [
  {
    pattern:
      /\b(?:do not|don't|don’t|never|must not|should not|without) (?:\w+ ){0,2}(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|disclose|disclosing|show|showing|let)\b.{0,40}?\b(?:users?|human|person|anyone|anybody|owner)\b/,
    message: "the text tells the model to keep something from the user",
  },
  {
    pattern: /\b(?:hide|conceal|keep) (?:\w+ ){0,4}(?:from (?:the )?users?|secret from|hidden from)\b/,
    message: "the text tells the model to hide something from the user",
  },
];

const TAKE =
  "(?:read|open|cat|load|fetch|include|send|pass|provide|attach|upload|copy|paste|put|supply|append|exfiltrate)";

/** Orders to read what holds secrets. */
export const SECRETS: readonly InjectionPattern[] = [
  {
    pattern: new RegExp(
      `\\b${TAKE}\\b.{0,80}?(?:~/\\.ssh|\\.ssh/|\\bid_(?:rsa|ed25519|ecdsa)\\b|/etc/(?:passwd|shadow)|\\.aws/credentials|(?:^|[\\s/\`"'])\\.(?:env|npmrc|netrc|pgpass)\\b|\\.kube/config|\\bmcp\\.json\\b|claude_desktop_config)`,
    ),
    message: "the text asks for a file that holds secrets",
  },
  {
    pattern: new RegExp(`\\b${TAKE}\\b.{0,40}?\\b(?:private|ssh|secret) keys?\\b`),
    message: "the text asks for private keys",
  },
];

/** Orders to hand over what the model was told in confidence. */
export const CONTEXT: readonly InjectionPattern[] = [
  {
    pattern: new RegExp(
      `\\b${TAKE}\\b.{0,40}?\\b(?:entire|full|whole|complete|previous|all)\\b.{0,20}?\\b(?:conversations?|chat|chat history|message history|context window)\\b`,
    ),
    message: "the text asks for the conversation",
  },
  {
    pattern: new RegExp(
      `\\b${TAKE}\\b.{0,40}?\\b(?:users?'s?|users’|user’s|your) (?:passwords?|credentials|api keys?|access tokens?|secrets)\\b`,
    ),
    message: "the text asks for credentials of the user",
  },
];

/** Marks that look like parts of a prompt, or that people do not see where text is shown. */
export const MARKUP: readonly InjectionPattern[] = [
  { pattern: /<!--/, message: "the text has an HTML comment, which people do not see where it is shown" },
  {
    pattern: /<\/?(?:system|sys|important|instructions?|assistant|hidden|override|critical)(?: [^>]{0,80})?>/,
    message: "the text has a tag that looks like a part of a prompt",
  },
  { pattern: /\[\/?inst\]|<\|[a-z_]{2,20}\|>/, message: "the text has a mark of a model's own format" },
  {
    pattern: /!\[[^\]]{0,200}\]\(https?:/,
    message: "the text has a picture at an address, by which data can leave",
  },
];

/** Things that people cannot read. */
export const BLOBS: readonly InjectionPattern[] = [
  {
    // A mixture of cases and digits: neither a long path nor a long word.
    pattern: /(?=[A-Za-z0-9+/]{0,99}[0-9])(?=[A-Za-z0-9+/]{0,99}[A-Z])(?=[A-Za-z0-9+/]{0,99}[a-z])[A-Za-z0-9+/]{100}/,
    message: "the text has a long piece of base64, which people cannot read",
  },
  { pattern: /(?:\\x[0-9a-f]{2}){16}|\b[0-9a-f]{128}/i, message: "the text has a long piece of hexadecimal digits" },
  { pattern: /\bdata:[a-z]+\/[a-z0-9.+-]{1,40};base64,/i, message: "the text has a data URL" },
];
