import { useEffect } from 'react';
import { announceSignIn } from '../data/proof.ts';
import { EmptyState } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { t } from '../messages/index.ts';

/**
 * The page after a new proof of identity. It notifies the waiting window and closes itself if the browser
 * allows it.
 */
export function SignInConfirmed() {
  useTitle(t.proven.title);
  useEffect(() => {
    announceSignIn();
    window.close();
  }, []);
  return (
    <main className="gate">
      <EmptyState title={t.proven.title} isPage>
        <p>{t.proven.why}</p>
      </EmptyState>
    </main>
  );
}
