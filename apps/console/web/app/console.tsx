/**
 * Signs in with the cookie of the sign-in service or with a token. Then sets up the event stream, the caches
 * and the pages.
 */
import { UnauthorizedError } from '@muster/client';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Boards } from '../data/boards.ts';
import { type ConsoleContextValue, ConsoleContext } from '../data/context.ts';
import { startLiveConnection } from '../data/live.ts';
import { createBatchedRefetch, refetchQueries } from '../data/refresh.ts';
import { staleQueryKeys } from '../data/stale.ts';
import { waitUntilSignedIn } from '../data/proof.ts';
import { takeAwaitedStop } from '../data/stops.ts';
import { hasUnsavedText } from '../data/unsaved.ts';
import { openSessionByCookie, type SessionState, type ConsoleSession } from '../data/session.ts';
import { isStillSignedIn, redirectToSignIn, proofPageOf, signOut } from '../data/sign-in.ts';
import { resendUnansweredRequests } from '../data/unanswered.ts';
import { preload } from '../components/lazily.ts';
import { EmptyState, SlowNotice } from '../components/states.tsx';
import { showNotice, errorText } from '../components/notices.tsx';
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
const defaultQueryOptions = {
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
  refetchOnWindowFocus: false,
};

export function App() {
  const [entering, setEntering] = useState<SignInState>({ state: 'asking' });
  const [tries, setTries] = useState(0);
  const toGate = useCallback(() => setEntering({ state: 'by-token' }), []);
  useEffect(() => {
    let isOver = false;
    openSessionByCookie().then(
      (entered) => {
        if (isOver) return;
        if (entered.state === 'outside') redirectToSignIn();
        setEntering(entered);
      },
      (error: unknown) => {
        const proofPage = proofPageOf(error);
        if (proofPage !== null) redirectToSignIn(proofPage);
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
          <SlowNotice again={resendUnansweredRequests} />
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
      return <SignedInConsole session={entering.session} onTokenRejected={toGate} />;
  }
}

const createQueryClient = (onSignedOut: () => Promise<boolean>): QueryClient =>
  new QueryClient({
    defaultOptions: { queries: defaultQueryOptions },
    queryCache: new QueryCache({
      onError: (error) => {
        const proofPage = proofPageOf(error);
        if (proofPage !== null) redirectToSignIn(proofPage);
        else if (error instanceof UnauthorizedError) void onSignedOut();
      },
    }),
  });

interface SignedInConsoleProps {
  readonly session: ConsoleSession;
  readonly onTokenRejected: () => void;
}

function SignedInConsole({ session, onTokenRejected }: SignedInConsoleProps) {
  const { signedIn, identity } = session;
  const orgId = identity.org.id;
  const onSignedOut = useCallback(async (): Promise<boolean> => {
    if (signedIn === null) {
      onTokenRejected();
      return true;
    }
    if (await isStillSignedIn(signedIn.account.id, orgId)) return false;
    if (hasUnsavedText()) {
      await waitUntilSignedIn(signedIn);
      return false;
    }
    redirectToSignIn();
    return true;
  }, [signedIn, orgId, onTokenRejected]);
  const queries = useMemo(() => createQueryClient(onSignedOut), [onSignedOut]);
  const [inside, setInside] = useState<ConsoleContextValue | null>(null);
  useEffect(() => {
    const boards = new Boards(session.client);
    const refetchSoon = createBatchedRefetch(queries);
    const live = startLiveConnection(session, {
      onEvent: (event) => {
        boards.handleEvent(event);
        const stopped = takeAwaitedStop(event);
        if (stopped !== undefined)
          showNotice({
            ...{ tone: 'good', title: t.stop.stopped(stopped.workName) },
            ...{ body: t.stop.stoppedBy(stopped.holderName), about: stopped.executionId },
          });
        for (const queryKey of staleQueryKeys(event)) refetchSoon(queryKey);
      },
      onResync: () => {
        boards.reloadAll();
        void refetchQueries(queries, []);
      },
      onNotification: () => void refetchQueries(queries, ['inbox']),
      // Notifications that arrived while the stream was disconnected are only counted as unread, and are not
      // announced.
      onUnreadCount: (count) => {
        queries.setQueryData(['unread'], count);
        void refetchQueries(queries, ['inbox']);
      },
      onSignedOut,
    });
    // Deletes the drafts of other members. The module is loaded after the console, because no page reads
    // those drafts.
    preload(async () =>
      (await import('../data/drafts.ts'))
        .createDrafts(session.draftOwnerId, localStorage)
        .deleteDraftsOfOthers(),
    );
    setInside({
      session,
      liveConnection: live,
      boards,
      signOut: signedIn === null ? onTokenRejected : signOut,
    });
    return () => live.stop();
  }, [session, signedIn, queries, onSignedOut, onTokenRejected]);
  if (inside === null) return null;
  return (
    <QueryClientProvider client={queries}>
      <ConsoleContext value={inside}>
        <RouterProvider router={router} />
      </ConsoleContext>
    </QueryClientProvider>
  );
}
