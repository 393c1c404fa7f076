import { type ComponentType, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { FieldKind, FormField } from "./model/form-field.js";

/** Something that is wrong with a value; `path` is a JSON pointer, or the name of a member of the whole. */
export interface FieldIssue {
  readonly path: string;
  readonly message: string;
}

/** Suggests values of a member of the whole while it is typed. */
export type CompleteText = (name: string, typed: string) => Promise<readonly string[]>;

/** One field of a form. */
export interface FieldProps {
  readonly schema: unknown;
  /** Undefined where it is absent. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** A JSON pointer into the value of the form. */
  readonly path: string;
  readonly name: string;
  /** Whether it cannot be left out. */
  readonly required: boolean;
  readonly depth: number;
  /** Without a head, because what is around it has one. */
  readonly bare?: boolean | undefined;
}

/** What the control of a field of some kind is given. */
export interface ControlProps<K extends FieldKind = FieldKind> {
  readonly field: FormField & { readonly kind: K };
  readonly id: string;
  /** The accessible name where no label is beside it. */
  readonly label?: string | undefined;
  readonly describedBy?: string | undefined;
  readonly invalid: boolean;
  readonly props: FieldProps;
}

/** What all fields of a form know. */
export interface FormSurroundings {
  /** The schema that references are looked up in. */
  readonly root: unknown;
  readonly idPrefix: string;
  readonly issues: ReadonlyMap<string, readonly string[]>;
  readonly complete?: CompleteText | undefined;
  /** Shows one field. Fields hold fields, and their files must not import each other in a circle. */
  readonly Field: ComponentType<FieldProps>;
}

export const FormContext = createContext<FormSurroundings | undefined>(undefined);

/** The form that a field is in. */
export function useForm(): FormSurroundings {
  const form = useContext(FormContext);
  if (form === undefined) throw new Error("a field was shown outside of a form");
  return form;
}

/** The id of the control at a path. */
export function fieldId(idPrefix: string, path: string): string {
  return `${idPrefix}${path.replaceAll(/[^A-Za-z0-9/_-]/g, (char) => `.${char.charCodeAt(0).toString(16)}`)}`;
}

/** The path of a member or an item. */
export function childPath(path: string, step: string | number): string {
  return `${path}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Issues by the path of their field. */
export function issuesByPath(issues: readonly FieldIssue[]): ReadonlyMap<string, readonly string[]> {
  const byPath = new Map<string, string[]>();
  for (const { path, message } of issues) {
    const pointer = path === "" || path.startsWith("/") ? path : childPath("", path);
    byPath.set(pointer, [...(byPath.get(pointer) ?? []), message]);
  }
  return byPath;
}
