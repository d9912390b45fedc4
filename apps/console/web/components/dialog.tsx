import { type ReactNode, useLayoutEffect, useRef } from 'react';

/** A modal of the browser's own: it keeps the focus, Escape closes it, and the focus goes back to where it was. */
export function Dialog({
  label,
  place,
  onClose,
  children,
}: {
  readonly label: string;
  readonly place?: 'top' | 'bottom';
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Closed before what comes in its place has the focus: the browser gives it back to where it was, and later would take it away.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      data-place={place}
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
