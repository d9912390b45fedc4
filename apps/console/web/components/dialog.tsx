import { type ReactNode, useLayoutEffect, useRef } from 'react';

interface DialogProps {
  readonly label: string;
  readonly position?: 'top' | 'bottom';
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A native modal dialog. It traps the focus, closes on Escape, and returns the focus afterwards. */
export function Dialog({ label, position, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Close the dialog before its replacement takes the focus. The browser returns the focus on close; if that
  // happened later, it would take the focus away from the replacement.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      data-place={position}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      {children}
    </dialog>
  );
}
