import { type ReactNode, useState } from 'react';
import { t } from '../messages/index.ts';
import { Dialog } from './dialog.tsx';

interface Question {
  /** What is done, as a button says it. */
  readonly act: string;
  readonly title: string;
  readonly body: ReactNode;
  readonly run: () => Promise<unknown>;
}

/** A question to be opened by whatever there is, such as an entry of a menu. */
export function useAsk({ act, title, body, run }: Question) {
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
              void run().finally(() => {
                setBusy(false);
                close();
              });
            }}
          >
            {act}
          </button>
        </div>
      </div>
    </Dialog>
  );
  return { open: () => setOpen(true), dialog };
}

/** An act that cannot be taken back is asked about first. */
export function Ask({
  act,
  about,
  title,
  why,
  run,
  kind = 'quiet',
  children,
}: Omit<Question, 'body'> & {
  /** What it is about, for those who hear the button alone. */
  readonly about: string;
  readonly why: string;
  /** How the button looks that asks. */
  readonly kind?: 'quiet' | 'plain';
  readonly children?: ReactNode;
}) {
  const body = (
    <>
      <p>{why}</p>
      {children}
    </>
  );
  const { open, dialog } = useAsk({ act, title, body, run });
  return (
    <>
      <button type="button" className="button" data-kind={kind} onClick={open}>
        {act}
        <span className="sr-only"> {about}</span>
      </button>
      {dialog}
    </>
  );
}
