/** From nobody to a session: what is signed in, or a token; then the stream, the caches and the pages. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { Boards } from '../data/boards.ts';
import { type Console, ConsoleContext } from '../data/context.ts';
import { startLive } from '../data/live.ts';
import { refresh } from '../data/refresh.ts';
import { staleBy } from '../data/stale.ts';
import { openSession, type Session } from '../data/session.ts';
import { Empty } from '../parts/states.tsx';
import { reasonFor } from '../parts/notices.tsx';
import { t } from '../texts/index.ts';
import { Gate } from './gate.tsx';
import { router } from './router.tsx';

type Entering =
  | { readonly state: 'asking' }
  | { readonly state: 'outside' }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'inside'; readonly session: Session };

/** What is read stays right by the stream; a try again is the transport's. */
const queryOptions = { staleTime: Number.POSITIVE_INFINITY, retry: false, refetchOnWindowFocus: false };

export function App() {
  const [entering, setEntering] = useState<Entering>({ state: 'asking' });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isOver = false;
    openSession().then(
      (session) => {
        if (!isOver) setEntering(session === undefined ? { state: 'outside' } : { state: 'inside', session });
      },
      (error: unknown) => {
        if (!isOver) setEntering({ state: 'failed', error });
      },
    );
    return () => {
      isOver = true;
    };
  }, [tries]);
  switch (entering.state) {
    case 'asking':
      return null;
    case 'failed':
      return (
        <main className="gate">
          <Empty title={t.failed.title}>
            <p>{reasonFor(entering.error)}</p>
            <button
              type="button"
              className="button"
              onClick={() => {
                setEntering({ state: 'asking' });
                setTries(tries + 1);
              }}
            >
              {t.retry}
            </button>
          </Empty>
        </main>
      );
    case 'outside':
      return <Gate onOpen={(session) => setEntering({ state: 'inside', session })} />;
    case 'inside':
      return <Inside session={entering.session} onSignOut={() => setEntering({ state: 'outside' })} />;
  }
}

function Inside({ session, onSignOut }: { readonly session: Session; readonly onSignOut: () => void }) {
  const queries = useMemo(() => new QueryClient({ defaultOptions: { queries: queryOptions } }), []);
  const [inside, setInside] = useState<Console | null>(null);
  useEffect(() => {
    const boards = new Boards(session.client);
    const live = startLive(session, {
      event: (event) => {
        boards.hear(event);
        for (const queryKey of staleBy(event)) void refresh(queries, queryKey);
      },
      resync: () => {
        boards.resync();
        void refresh(queries, []);
      },
      notification: () => void refresh(queries, ['inbox']),
      // Notifications that came while there was no connection are not told again: the count is.
      unread: (count) => {
        queries.setQueryData(['unread'], count);
        void refresh(queries, ['inbox']);
      },
      signedOut: onSignOut,
    });
    setInside({ session, live, boards, signOut: onSignOut });
    return () => live.stop();
  }, [session, queries, onSignOut]);
  if (inside === null) return null;
  return (
    <QueryClientProvider client={queries}>
      <ConsoleContext value={inside}>
        <RouterProvider router={router} />
      </ConsoleContext>
    </QueryClientProvider>
  );
}
