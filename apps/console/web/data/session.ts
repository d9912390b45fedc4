/** The viewer's identity and credentials: the sign-in cookie, or a token that is kept only in memory. */
import {
  type Client,
  createClient,
  followStream,
  type HttpOptions,
  httpTransport,
  retrying,
  type Streamed,
  UnauthorizedError,
} from '@muster/client';
import { type ResultOf } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { withSignInAgain } from './proof.ts';
import { fetchSignIn, chooseOrganization, type SignedIn } from './sign-in.ts';
import { setServerTime } from './time.ts';
import { resendableFetch } from './unanswered.ts';

export type Identity = ResultOf<Registry['session']['identity']>;

export interface ConsoleSession {
  readonly identity: Identity;
  readonly client: Client;
  readonly stream: (options: StreamOptions) => AsyncGenerator<Streamed, void, undefined>;
  /**
   * The event cursor from just before the identity was loaded. All changes to data that was fetched later
   * have events after this cursor.
   */
  readonly cursor: string;
  /** The signed-in account; null for a token. */
  readonly signedIn: SignedIn | null;
  /** Id of the person or agent who owns the drafts. */
  readonly draftOwnerId: string;
  /**
   * A key that is equal in all windows of this browser with the same access. These windows share one event
   * stream.
   */
  readonly streamSharingKey: string;
}

interface StreamOptions {
  readonly after: string;
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
  readonly onRetry: (failure: unknown) => void;
}

export type SessionState =
  | { readonly state: 'inside'; readonly session: ConsoleSession }
  /** No one is signed in. */
  | { readonly state: 'outside' }
  /** The installation has no sign-in, so the console asks for a token. */
  | { readonly state: 'by-token' }
  /** The signed-in person belongs to no organization. */
  | { readonly state: 'homeless'; readonly account: SignedIn['account'] };

const baseUrl = globalThis.location.origin;
/** Seconds for which failed calls are retried before the page reports the failure. */
const retrySeconds = 20;

/** Opens a session with the browser's cookie. Throws if no response arrives. */
export async function openSessionByCookie(): Promise<SessionState> {
  const signedIn = await fetchSignIn();
  if (signedIn === 'absent') return { state: 'by-token' };
  if (signedIn === 'outside') return { state: 'outside' };
  const organization = chooseOrganization(signedIn.organizations);
  if (organization === undefined) return { state: 'homeless', account: signedIn.account };
  const session = await openSession(
    {
      baseUrl,
      fetch: (input, init = {}) => {
        const headers = new Headers(init.headers);
        headers.set('x-muster-org', organization.id);
        return resendableFetch(input, { ...init, headers, credentials: 'same-origin' });
      },
    },
    signedIn,
  );
  return { state: 'inside', session };
}

/** Opens a session with a token; undefined if the token is invalid. */
export const openSessionByToken = (token: string): Promise<ConsoleSession | undefined> =>
  openSession({ baseUrl, token, fetch: resendableFetch }, null).catch((error: unknown) => {
    if (error instanceof UnauthorizedError) return undefined;
    throw error;
  });

async function openSession(http: HttpOptions, signedIn: SignedIn | null): Promise<ConsoleSession> {
  const client = createClient(
    withSignInAgain(
      retrying(httpTransport(http), { forSeconds: retrySeconds, isPaused: () => !navigator.onLine }),
      signedIn,
    ),
  );
  const asked = Date.now();
  const [identity, { cursor }] = await Promise.all([
    client.session.identity().then((answer) => {
      setServerTime(answer.serverTime, asked, Date.now());
      return answer;
    }),
    client.events.list({ after: 'latest', limit: 1 }),
  ]);
  const audience = signedIn === null ? identity.token.id : `${signedIn.account.id}.${identity.org.id}`;
  const person = signedIn?.account.id ?? identity.agent?.id ?? identity.member.id;
  return {
    ...{ identity, client, cursor, signedIn, streamSharingKey: audience, draftOwnerId: person },
    stream: (wish) => followStream({ ...http, ...wish, forSeconds: Number.POSITIVE_INFINITY }),
  };
}
