import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface KeepSectionProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** One thing that can be done with sessions. */
export function KeepSection({ title, children }: KeepSectionProps) {
  const id = useId();
  return (
    <section class="keep-section" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
