import { type ComponentType, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { FieldKind, FormField } from "./model/form-field.js";

/** A problem with a value. `path` is a JSON pointer, or the name of a top-level member. */
export interface FieldIssue {
  readonly path: string;
  readonly message: string;
}

/** Suggests values for a top-level member while the user types. */
export type CompleteText = (name: string, typed: string) => Promise<readonly string[]>;

/** The props of one field. */
export interface FieldProps {
  readonly schema: unknown;
  /** Undefined if the member is absent. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** JSON pointer into the value of the form. */
  readonly path: string;
  readonly name: string;
  /** True if the member cannot be left out. */
  readonly required: boolean;
  readonly depth: number;
  /** Renders the field without its name and marks, because the parent shows them. */
  readonly bare?: boolean | undefined;
}

/** The props of the control of a field. */
export interface ControlProps<K extends FieldKind = FieldKind> {
  readonly field: FormField & { readonly kind: K };
  readonly id: string;
  /** The accessible name of a control without a visible label. */
  readonly label?: string | undefined;
  readonly describedBy?: string | undefined;
  readonly invalid: boolean;
  readonly props: FieldProps;
}

/** The state shared by all fields of a form. */
export interface FormContextValue {
  /** The schema in which references are resolved. */
  readonly root: unknown;
  readonly idPrefix: string;
  readonly issues: ReadonlyMap<string, readonly string[]>;
  readonly complete?: CompleteText | undefined;
  /**
   * Renders one field. Passed through the context, because fields contain fields and their modules must not import each
   * other.
   */
  readonly Field: ComponentType<FieldProps>;
}

export const FormContext = createContext<FormContextValue | undefined>(undefined);

/** Returns the form of the current field. */
export function useForm(): FormContextValue {
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

/** Groups issues by the path of their field. */
export function issuesByPath(issues: readonly FieldIssue[]): ReadonlyMap<string, readonly string[]> {
  const byPath = new Map<string, string[]>();
  for (const { path, message } of issues) {
    const pointer = path === "" || path.startsWith("/") ? path : childPath("", path);
    byPath.set(pointer, [...(byPath.get(pointer) ?? []), message]);
  }
  return byPath;
}
