import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  /** Asked for by Esc or the close button; the caller takes the dialog away. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog. The focus stays inside, and goes back to where it was when the dialog is taken away. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const onCancel = (event: Event) => {
    // The caller's state decides whether it is open; a browser that closed it by itself would leave the two apart.
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={element} class="parts-dialog" aria-labelledby={titleId} onCancel={onCancel}>
      <h2 id={titleId}>{title}</h2>
      <div class="parts-dialog-body">{children}</div>
      {/* Last in the document, because a dialog opens with the focus on its first control. */}
      <button type="button" class="quiet parts-dialog-close" aria-label="Close" onClick={onClose}>
        ✕
      </button>
    </dialog>
  );
}
