import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  /** Called on Esc and by the close button. The caller unmounts the dialog. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog. Traps the focus, and restores the focus when the dialog is unmounted. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const onCancel = (event: Event) => {
    // The state of the caller decides whether the dialog is open. Without `preventDefault`, the browser would close the
    // dialog itself.
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
