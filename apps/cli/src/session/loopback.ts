/**
 * Signs in with the browser of this machine (RFC 8252). The server redirects the browser to a loopback
 * address, at a port that only this process listens on. The redirect contains a code, which works only with
 * the verifier of this process (RFC 7636).
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { finished } from 'node:stream/promises';
import { SignInFailedError } from '../failures.ts';
import {
  type AuthorizationCodeRequest,
  exchangeCode,
  type StoredLogin,
  type Metadata,
  authorizationUrl,
} from './oauth.ts';
import { loopbackPages, type LoopbackPage, sendLoopbackPage } from './loopback-page.ts';

export interface LoopbackOptions {
  /** Opens an address in a browser. Calls `failed` if there is no browser. */
  readonly openUrl: (url: string, failed: () => void) => Promise<void>;
  /** Called with the URL of the sign-in page. The person can open it if no browser opens by itself. */
  readonly onStarted: (url: string) => void;
  /** The time limit for an answer, in milliseconds. */
  readonly timeoutMillis: number;
}

const randomUrlSafeString = (): string => randomBytes(32).toString('base64url');

/**
 * The result that the redirect contains: a code or an error. Undefined if the redirect does not belong to
 * this request.
 */
type RedirectAnswer = { readonly code: string } | { readonly error: string } | undefined;

/**
 * Accepts only an answer of this server (RFC 9207) to this request, because any page can make a browser open
 * this address.
 */
function parseRedirectAnswer(
  query: URLSearchParams,
  { state }: AuthorizationCodeRequest,
  { issuer }: Metadata,
): RedirectAnswer {
  if (query.get('state') !== state || query.get('iss') !== issuer) return undefined;
  const [code, error] = [query.get('code'), query.get('error')];
  if (error !== null) return { error };
  return code === null ? undefined : { code };
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/**
 * Waits until a person has answered in the browser. Returns undefined if no browser opened or no answer came
 * in time. Throws SignInFailedError if the person refused.
 */
export async function signInByBrowser(
  metadata: Metadata,
  scope: string,
  { openUrl, onStarted, timeoutMillis }: LoopbackOptions,
): Promise<StoredLogin | undefined> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const verifier = randomUrlSafeString();
  const question: AuthorizationCodeRequest = {
    ...{ scope, state: randomUrlSafeString(), redirectUri: `http://${host}/callback` },
    challenge: createHash('sha256').update(verifier).digest('base64url'),
  };
  let isAnswered = false;

  /** Returns the outcome of the answer and the page that reports it to the person. */
  async function processAnswer(
    answer: NonNullable<RedirectAnswer>,
  ): Promise<[() => StoredLogin, LoopbackPage]> {
    const failed = (error: Error, page: LoopbackPage): [() => StoredLogin, LoopbackPage] => [
      () => {
        throw error;
      },
      page,
    ];
    if ('error' in answer) {
      const isRefused = answer.error === 'access_denied';
      const why = isRefused
        ? 'the request was denied in the browser'
        : `the server answered: ${answer.error}`;
      return failed(new SignInFailedError(why), isRefused ? loopbackPages.refused : loopbackPages.failed);
    }
    try {
      const given = await exchangeCode(metadata, question, { code: answer.code, verifier });
      return [() => given, loopbackPages.signedIn];
    } catch (error) {
      return failed(toError(error), loopbackPages.failed);
    }
  }

  let resolve: (outcome: (() => StoredLogin) | undefined) => void = () => undefined;
  const answered = new Promise<(() => StoredLogin) | undefined>((settle) => (resolve = settle));
  async function hear(
    { method, url = '/', headers }: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { pathname, searchParams } = new URL(url, `http://${host}`);
    // Reject a request that names another host for this address, because it comes from another site.
    const isOurs = method === 'GET' && headers.host === host;
    if (isOurs && pathname === '/') {
      response.writeHead(302, { location: authorizationUrl(metadata, question), connection: 'close' }).end();
      return;
    }
    const answer =
      isOurs && pathname === '/callback' ? parseRedirectAnswer(searchParams, question, metadata) : undefined;
    if (answer === undefined || isAnswered) {
      sendLoopbackPage(response, loopbackPages.unknown);
      return;
    }
    isAnswered = true;
    const [outcome, page] = await processAnswer(answer);
    sendLoopbackPage(response, page);
    // The answer counts even if the person has closed the page.
    await finished(response).catch(() => undefined);
    resolve(outcome);
  }
  server.on('request', (request, response) => {
    void hear(request, response).catch(() => response.destroy());
  });
  const giveUp = (): void => {
    if (!isAnswered) resolve(undefined);
  };
  const patience = setTimeout(giveUp, timeoutMillis);
  try {
    onStarted(`http://${host}/`);
    await openUrl(`http://${host}/`, giveUp);
    return (await answered)?.();
  } finally {
    clearTimeout(patience);
    server.close();
    server.closeAllConnections();
  }
}
