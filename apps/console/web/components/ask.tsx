import { type ReactNode, useState } from 'react';
import { t } from '../messages/index.ts';
import { Dialog } from './dialog.tsx';

interface ConfirmOptions {
  /** Label of the button that confirms the action. */
  readonly actionLabel: string;
  readonly title: string;
  readonly body: ReactNode;
  readonly onConfirm: () => Promise<unknown>;
}

/** Returns a confirmation dialog, and a function that opens it, for example from a menu entry. */
export function useConfirmDialog({ actionLabel, title, body, onConfirm }: ConfirmOptions) {
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const close = (): void => setOpen(false);
  const dialog = isOpen && (
    <Dialog label={title} onClose={close}>
      <div className="dialog-body">
        <h2>{title}</h2>
        {body}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            {t.cancel}
          </button>
          <button
            type="button"
            className="button"
            data-kind="stop"
            disabled={isBusy}
            onClick={() => {
              setBusy(true);
              void onConfirm().finally(() => {
                setBusy(false);
                close();
              });
            }}
          >
            {actionLabel}
          </button>
        </div>
      </div>
    </Dialog>
  );
  return { open: () => setOpen(true), dialog };
}

/** Renders a button that asks for confirmation before an irreversible action. */
export function ConfirmButton({
  actionLabel,
  subject,
  title,
  explanation,
  onConfirm,
  kind = 'quiet',
  children,
}: Omit<ConfirmOptions, 'body'> & {
  /** The object of the action, for screen readers that announce only the button. */
  readonly subject: string;
  readonly explanation: string;
  /** Style of the button that opens the dialog. */
  readonly kind?: 'quiet' | 'plain';
  readonly children?: ReactNode;
}) {
  const body = (
    <>
      <p>{explanation}</p>
      {children}
    </>
  );
  const { open, dialog } = useConfirmDialog({ actionLabel, title, body, onConfirm });
  return (
    <>
      <button type="button" className="button" data-kind={kind} onClick={open}>
        {actionLabel}
        <span className="sr-only"> {subject}</span>
      </button>
      {dialog}
    </>
  );
}
