import { parseAst } from "rolldown/parseAst";

/** A node of the syntax tree; its other members are found by looking at all of them. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** The function that a node stands in: its name, and whether it holds a frame of the recorder's stack. */
interface Place {
  readonly name: string;
  readonly framed: boolean;
}

interface Edit {
  readonly at: number;
  readonly text: string;
}

const MODULE: Place = { name: "module", framed: false };

/**
 * The text of a source file in which each function says that it is entered and left, and each `await` that it waits and
 * goes on. Nothing else changes, and no line moves. `path` is what the recorder is told.
 */
export function instrument(path: string, text: string): string {
  const edits: Edit[] = [];
  const insert = (at: number, words: string) => edits.push({ at, text: words });

  const visit = (node: Node, place: Place, parent: Node | undefined): void => {
    let inside = place;
    let end: Edit | undefined;
    if (isFunction(node)) {
      const body = node["body"] as Node;
      const framed = !isResumable(node);
      inside = { name: nameOf(node, parent) ?? place.name, framed };
      const what = `${JSON.stringify(path)},${JSON.stringify(inside.name)}`;
      if (body.type === "BlockStatement") {
        insert(body.start + 1, framed ? `const $frame=__walk.enter(${what});try{` : `__walk.note(${what});`);
        if (framed) end = { at: body.end - 1, text: "}finally{__walk.leave($frame)}" };
      } else {
        insert(body.start, framed ? `__walk.wrap(__walk.enter(${what}),` : `(__walk.note(${what}),`);
        end = { at: body.end, text: ")" };
      }
    } else if (node.type === "AwaitExpression") {
      const argument = node["argument"] as Node;
      const frame = place.framed ? "$frame" : "undefined";
      const what = `${JSON.stringify(path)},${JSON.stringify(place.name)}`;
      insert(node.start, `__walk.resume(${frame},${what},`);
      insert(argument.start, `__walk.suspend(${frame},`);
      visit(argument, place, node);
      insert(argument.end, ")");
      insert(node.end, ")");
      return;
    }
    for (const child of childrenOf(node)) visit(child, inside, node);
    if (end !== undefined) edits.push(end);
  };
  visit(parseAst(text, { lang: "ts" }) as unknown as Node, MODULE, undefined);
  return applied(text, edits);
}

/** Puts all insertions in; those at one place stay in the order in which they were asked for. */
function applied(text: string, edits: readonly Edit[]): string {
  let from = 0;
  let result = "";
  for (const edit of edits.toSorted((a, b) => a.at - b.at)) {
    result += text.slice(from, edit.at) + edit.text;
    from = edit.at;
  }
  return result + text.slice(from);
}

function isFunction(node: Node): boolean {
  const kinds = ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"];
  return kinds.includes(node.type) && isNode(node["body"]);
}

/**
 * A generator leaves in the middle, and an asynchronous arrow without a block has no place for its frame: of these only
 * the entry is noted, and each `await` that goes on.
 */
function isResumable(node: Node): boolean {
  if (node["generator"] === true) return true;
  return node["async"] === true && (node["body"] as Node).type !== "BlockStatement";
}

/** What a reader would call the function; undefined for a callback, which goes by the function around it. */
function nameOf(node: Node, parent: Node | undefined): string | undefined {
  const own = identifier(node["id"]);
  if (own !== undefined || parent === undefined) return own;
  if (["MethodDefinition", "PropertyDefinition", "Property"].includes(parent.type)) return identifier(parent["key"]);
  if (parent.type === "VariableDeclarator") return identifier(parent["id"]);
  return undefined;
}

function identifier(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "PrivateIdentifier") return `#${String(node["name"])}`;
  const name = node["name"] ?? node["value"];
  return typeof name === "string" ? name : undefined;
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flatMap((value: unknown) => value)
    .filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Partial<Node>).type === "string";
}
