/** What the library tells programs to change, and the same for a person at a shell. The first that is found is replaced. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/`timeouts\.\w+`(?:, for this call or in `connect`| of `\w+`)?/, "--timeout"],
  [/; `data\.(?:stderr|result)` has [\w ]+\.$/, "; --debug shows every message and its stderr."],
  [/pass its full path as `command`, or set `PATH` in `env`/, "give its full path, or set PATH by --env"],
  [/^Check that the folder `cwd` exists/, "Check that the folder of --cwd exists"],
  [
    /^(Pass \S+) in `env`; a server inherits only a few variables/,
    "$1 by --env NAME=value, or in `env` of its configuration",
  ],
  [/ in `args`/, ""],
  [/, or set `allowCrossOriginRedirects`/, ""],
  [/, or raise `\w+`(?: of `connect`| on the reading side)(?: or of the transport)?/, ""],
  [/^Raise `(?:maxRounds|maxQuestions)` in `connect`, or look/, "Look"],
  [/^Look at [^.]*`client\.serverCapabilities`[^.]*\./, "`parley info` shows what the server offers."],
  [/^Look at `cause` and at the server's log/, "Look at the server's log"],
  [/another `port`; 0 picks a free one/, "another port: --http 0 picks a free one"],
  [
    /^Add (?:this|a|one of these) revisions? [^.]*`revisions` option[^.]*\.|^Add older revisions to the `revisions` option\./,
    "Leave --revision out, or give one that the server supports.",
  ],
  [/, or use an older revision with `revisions`/, ", or try an older --revision"],
  [/^Pass credentials to `connect` in `headers`/, 'Pass them: --header "Authorization: Bearer …"'],
  [/pass it as `client`/, "pass it by --client-id"],
  [/, or pass `checkOutput: false` to take results unchecked/, ""],
];

/** Advice of the library in words of the command line. */
export function shellAdvice(fix: string): string {
  return WORDS.reduce((text, [api, words]) => text.replace(api, words), fix);
}
