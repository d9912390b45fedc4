import { useEffect } from 'react';
import { sayProven } from '../data/proof.ts';
import { Empty } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { t } from '../messages/index.ts';

/** Where a fresh proof leads: it tells the window that waits for it, and closes itself where it may. */
export function Proven() {
  useTitle(t.proven.title);
  useEffect(() => {
    sayProven();
    window.close();
  }, []);
  return (
    <main className="gate">
      <Empty title={t.proven.title} isPage>
        <p>{t.proven.why}</p>
      </Empty>
    </main>
  );
}
