import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface SessionSectionProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A section of the session view. */
export function SessionSection({ title, children }: SessionSectionProps) {
  const id = useId();
  return (
    <section class="keep-section" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
