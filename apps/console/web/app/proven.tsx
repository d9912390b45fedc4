import { useEffect } from 'react';
import { sayProven } from '../data/proof.ts';
import { Empty } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { t } from '../messages/index.ts';

/**
 * The page after a new proof of identity. It notifies the waiting window and closes itself if the browser
 * allows it.
 */
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
