import { type ReactNode, useState } from 'react';
import { t } from '../texts/index.ts';
import { Dialog } from './dialog.tsx';

/** An act that cannot be taken back is asked about first. */
export function Ask({
  act,
  about,
  title,
  why,
  run,
  kind = 'quiet',
  children,
}: {
  readonly act: string;
  /** What it is about, for those who hear the button alone. */
  readonly about: string;
  readonly title: string;
  readonly why: string;
  readonly run: () => Promise<unknown>;
  /** How the button looks that asks. */
  readonly kind?: 'quiet' | 'plain';
  readonly children?: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <button type="button" className="button" data-kind={kind} onClick={() => setOpen(true)}>
        {act}
        <span className="sr-only"> {about}</span>
      </button>
      {isOpen && (
        <Dialog label={title} onClose={close}>
          <div className="dialog-body">
            <h2>{title}</h2>
            <p>{why}</p>
            {children}
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
      )}
    </>
  );
}
