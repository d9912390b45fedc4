import { useSyncExternalStore } from 'react';
import { proofAsked, provenPath, subscribe } from '../data/proof.ts';
import { t } from '../texts/index.ts';
import { Dialog } from './dialog.tsx';

const address = `/sign-in?again&to=${encodeURIComponent(provenPath)}`;

/** Shown while a call waits for its caller to prove anew who they are. */
export function ProofDialog() {
  const asked = useSyncExternalStore(subscribe, proofAsked);
  if (asked === null) return null;
  return (
    <Dialog label={t.proof.title} onClose={() => asked.done(false)}>
      <div className="dialog-body">
        <h2>{t.proof.title}</h2>
        <p>{t.proof.why}</p>
        <p className="muted">{t.proof.how}</p>
        <div className="dialog-foot">
          <button type="button" className="button" onClick={() => asked.done(false)}>
            {t.cancel}
          </button>
          <button
            type="button"
            className="button"
            data-kind="main"
            autoFocus
            onClick={() => window.open(address, 'muster-proof')}
          >
            {t.proof.act}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
