/**
 * The variables of a template, read from its string type.
 *
 * `"repo://{owner}/{name}{?page,tags*}"` gives `{ owner: string; name: string; page?: string; tags?: string[] }`. Plain
 * and `+` variables are required, because every match has them; all others are optional. A template whose literal type
 * is unknown gives a plain record.
 */
export type TemplateVariables<T extends string> = string extends T
  ? Record<string, string | string[] | undefined>
  : // Written out, so that the compiler names the variables and not the types that compute them.
    RequiredVariables<Expressions<T>> & OptionalVariables<Expressions<T>> extends infer Both
    ? { [K in keyof Both]: Both[K] }
    : never;

/** The bodies of all expressions, as a union. The accumulator makes the recursion a tail call, which allows 1,000 of them. */
type Expressions<T extends string, Found = never> = T extends `${string}{${infer Body}}${infer Rest}`
  ? Expressions<Rest, Found | Body>
  : Found;

type OptionalOperator = "#" | "." | "/" | ";" | "?" | "&";

type RequiredList<Body> = Body extends `${OptionalOperator}${string}`
  ? never
  : Body extends `+${infer List}`
    ? List
    : Body;
type OptionalList<Body> = Body extends `${OptionalOperator}${infer List}` ? List : never;

type Items<List, Found = never> = List extends `${infer Head},${infer Rest}` ? Items<Rest, Found | Head> : Found | List;

type NameOf<Item> = Item extends `${infer Name}*` ? Name : Item extends `${infer Name}:${string}` ? Name : Item;
type ValueOf<Item> = Item extends `${string}*` ? string[] : string;

type RequiredVariables<Bodies> = {
  [Item in Items<RequiredList<Bodies>> & string as NameOf<Item> & string]: ValueOf<Item>;
};
type OptionalVariables<Bodies> = {
  [Item in Items<OptionalList<Bodies>> & string as NameOf<Item> & string]?: ValueOf<Item>;
};
