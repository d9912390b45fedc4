/** Who is looking, and how its calls say so: by the cookie of a sign-in, or by a token that lives in memory alone. */
import {
  type Client,
  connect,
  createClient,
  followStream,
  httpTransport,
  retrying,
  type Streamed,
  UnauthorizedError,
} from '@muster/client';
import { type Registry, type ResultOf } from '@muster/registry';

export type Identity = ResultOf<Registry['session']['identity']>;

export interface Session {
  readonly identity: Identity;
  readonly client: Client;
  /** A client that gives up at once: for what a person repeats by hand anyway. */
  readonly once: Client;
  readonly stream: (options: StreamWish) => AsyncGenerator<Streamed, void, undefined>;
  /** Just before who is looking was asked: whatever was read since is covered by what follows it. */
  readonly cursor: string;
}

interface StreamWish {
  readonly after: string;
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
  readonly onRetry: () => void;
}

const baseUrl = globalThis.location.origin;
/** A page is patient for so long before it says that no answer comes. */
const forSeconds = 20;

/** Undefined where nobody is signed in, or the token is no good. */
export async function openSession(token?: string): Promise<Session | undefined> {
  const http = { baseUrl, token };
  const client = connect({ ...http, forSeconds });
  try {
    const [identity, { cursor }] = await Promise.all([
      client.session.identity(),
      client.events.list({ after: 'latest', limit: 1 }),
    ]);
    return {
      ...{ identity, client, cursor },
      once: createClient(retrying(httpTransport(http), { forSeconds: 3 })),
      stream: (wish) => followStream({ ...http, ...wish, forSeconds: Number.POSITIVE_INFINITY }),
    };
  } catch (error) {
    if (error instanceof UnauthorizedError) return undefined;
    throw error;
  }
}
