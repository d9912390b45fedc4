/**
 * Signs in with the cookie of the sign-in service or with a token. Then sets up the event stream, the caches
 * and the pages.
 */
import { UnauthorizedError } from '@muster/client';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Boards } from '../data/boards.ts';
import { type Console, ConsoleContext } from '../data/context.ts';
import { startLive } from '../data/live.ts';
import { refresh } from '../data/refresh.ts';
import { staleKeys } from '../data/stale.ts';
import { untilSignedIn } from '../data/proof.ts';
import { stoppedBy } from '../data/stops.ts';
import { hasUnsaved } from '../data/unsaved.ts';
import { openSessionByCookie, type SessionState, type ConsoleSession } from '../data/session.ts';
import { isStillSignedIn, leaveToSignIn, proofPageOf, signOut } from '../data/sign-in.ts';
import { resendUnanswered } from '../data/unanswered.ts';
import { preload } from '../components/lazily.ts';
import { EmptyState, SlowNotice } from '../components/states.tsx';
import { notify, errorText } from '../components/notices.tsx';
import { t } from '../messages/index.ts';
import { TokenSignIn } from './gate.tsx';
import { router } from './router.tsx';

type SignInState =
  | SessionState
  | { readonly state: 'asking' }
  | { readonly state: 'failed'; readonly error: unknown };

/**
 * Query defaults: data is never stale by age, because the event stream invalidates it. The queries do not
 * retry, because the transport of the API client does.
 */
const queryOptions = { staleTime: Number.POSITIVE_INFINITY, retry: false, refetchOnWindowFocus: false };

export function App() {
  const [entering, setEntering] = useState<SignInState>({ state: 'asking' });
  const [tries, setTries] = useState(0);
  const toGate = useCallback(() => setEntering({ state: 'by-token' }), []);
  useEffect(() => {
    let isOver = false;
    openSessionByCookie().then(
      (entered) => {
        if (isOver) return;
        if (entered.state === 'outside') leaveToSignIn();
        setEntering(entered);
      },
      (error: unknown) => {
        const proofPage = proofPageOf(error);
        if (proofPage !== null) leaveToSignIn(proofPage);
        else if (!isOver) setEntering({ state: 'failed', error });
      },
    );
    return () => {
      isOver = true;
    };
  }, [tries]);
  switch (entering.state) {
    case 'asking':
      return (
        <main className="gate">
          <SlowNotice again={resendUnanswered} />
        </main>
      );
    // The sign-in page is loading.
    case 'outside':
      return null;
    case 'failed':
      return (
        <main className="gate">
          <EmptyState title={t.failed.title} isPage>
            <p>{errorText(entering.error)}</p>
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
          </EmptyState>
        </main>
      );
    case 'homeless':
      return (
        <main className="gate">
          <EmptyState title={t.gate.homeless} isPage>
            <p>{t.gate.homelessWhy(entering.account.email)}</p>
            <button type="button" className="button" onClick={signOut}>
              {t.wire.signOut}
            </button>
          </EmptyState>
        </main>
      );
    case 'by-token':
      return <TokenSignIn onOpen={(session) => setEntering({ state: 'inside', session })} />;
    case 'inside':
      return <SignedInConsole session={entering.session} onTokenOver={toGate} />;
  }
}

function SignedInConsole({
  session,
  onTokenOver,
}: {
  readonly session: ConsoleSession;
  readonly onTokenOver: () => void;
}) {
  const { signedIn, identity } = session;
  const orgId = identity.org.id;
  const onSignedOut = useCallback(async (): Promise<boolean> => {
    if (signedIn === null) {
      onTokenOver();
      return true;
    }
    if (await isStillSignedIn(signedIn.account.id, orgId)) return false;
    if (hasUnsaved()) {
      await untilSignedIn(signedIn);
      return false;
    }
    leaveToSignIn();
    return true;
  }, [signedIn, orgId, onTokenOver]);
  const queries = useMemo(
    () =>
      new QueryClient({
        defaultOptions: { queries: queryOptions },
        queryCache: new QueryCache({
          onError: (error) => {
            const proofPage = proofPageOf(error);
            if (proofPage !== null) leaveToSignIn(proofPage);
            else if (error instanceof UnauthorizedError) void onSignedOut();
          },
        }),
      }),
    [onSignedOut],
  );
  const [inside, setInside] = useState<Console | null>(null);
  useEffect(() => {
    const boards = new Boards(session.client);
    const live = startLive(session, {
      event: (event) => {
        boards.hear(event);
        const stopped = stoppedBy(event);
        if (stopped !== undefined)
          notify({
            ...{ tone: 'good', title: t.stop.stopped(stopped.name) },
            ...{ body: t.stop.stoppedBy(stopped.holder), about: stopped.executionId },
          });
        for (const queryKey of staleKeys(event)) void refresh(queries, queryKey);
      },
      resync: () => {
        boards.resync();
        void refresh(queries, []);
      },
      notification: () => void refresh(queries, ['inbox']),
      // Notifications that arrived while the stream was disconnected are only counted as unread, and are not
      // announced.
      unread: (count) => {
        queries.setQueryData(['unread'], count);
        void refresh(queries, ['inbox']);
      },
      signedOut: onSignedOut,
    });
    // Deletes the drafts of other members. The module is loaded after the console, because no page reads
    // those drafts.
    preload(async () =>
      (await import('../data/drafts.ts')).draftsOf(session.person, localStorage).deleteOthers(),
    );
    setInside({ session, live, boards, signOut: signedIn === null ? onTokenOver : signOut });
    return () => live.stop();
  }, [session, signedIn, queries, onSignedOut, onTokenOver]);
  if (inside === null) return null;
  return (
    <QueryClientProvider client={queries}>
      <ConsoleContext value={inside}>
        <RouterProvider router={router} />
      </ConsoleContext>
    </QueryClientProvider>
  );
}
