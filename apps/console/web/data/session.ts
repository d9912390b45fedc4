/** Who is looking, and how its calls say so: by the cookie of a sign-in, or by a token that lives in memory alone. */
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
import { type Registry, type ResultOf } from '@muster/registry';
import { signingIn } from './proof.ts';
import { askSignIn, chooseOrganization, type SignedIn } from './sign-in.ts';
import { hearTime } from './time.ts';
import { resendableFetch } from './unanswered.ts';

export type Identity = ResultOf<Registry['session']['identity']>;

export interface Session {
  readonly identity: Identity;
  readonly client: Client;
  readonly stream: (options: StreamWish) => AsyncGenerator<Streamed, void, undefined>;
  /** Just before who is looking was asked: whatever was read since is covered by what follows it. */
  readonly cursor: string;
  /** Who is signed in; null for a token. */
  readonly signedIn: SignedIn | null;
  /** Id of the person, or of the agent, whose drafts are kept. */
  readonly person: string;
  /** The same in all windows of this browser that may see the same: they share one stream. */
  readonly audience: string;
}

interface StreamWish {
  readonly after: string;
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
  readonly onRetry: (failure: unknown) => void;
}

export type Entered =
  | { readonly state: 'inside'; readonly session: Session }
  /** Nobody is signed in. */
  | { readonly state: 'outside' }
  /** There is no sign-in here, so that a token is asked for. */
  | { readonly state: 'by-token' }
  /** Somebody is signed in who is a member nowhere. */
  | { readonly state: 'homeless'; readonly account: SignedIn['account'] };

const baseUrl = globalThis.location.origin;
/** A page is patient for so long before it says that no answer comes. */
const forSeconds = 20;

/** By the session of the browser. Throws where no answer comes. */
export async function enter(): Promise<Entered> {
  const signedIn = await askSignIn();
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

/** Undefined where the token is no good. */
export const openByToken = (token: string): Promise<Session | undefined> =>
  openSession({ baseUrl, token, fetch: resendableFetch }, null).catch((error: unknown) => {
    if (error instanceof UnauthorizedError) return undefined;
    throw error;
  });

async function openSession(http: HttpOptions, signedIn: SignedIn | null): Promise<Session> {
  const client = createClient(signingIn(retrying(httpTransport(http), { forSeconds }), signedIn));
  const asked = Date.now();
  const [identity, { cursor }] = await Promise.all([
    client.session.identity().then((answer) => {
      hearTime(answer.serverTime, asked, Date.now());
      return answer;
    }),
    client.events.list({ after: 'latest', limit: 1 }),
  ]);
  const audience = signedIn === null ? identity.token.id : `${signedIn.account.id}.${identity.org.id}`;
  const person = signedIn?.account.id ?? identity.agent?.id ?? identity.member.id;
  return {
    ...{ identity, client, cursor, signedIn, audience, person },
    stream: (wish) => followStream({ ...http, ...wish, forSeconds: Number.POSITIVE_INFINITY }),
  };
}
