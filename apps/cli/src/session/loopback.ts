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
import { SignInRefused } from '../failures.ts';
import { type CodeQuestion, exchangeCode, type StoredLogin, type Metadata, questionUrl } from './oauth.ts';
import { answeredPage, type LoopbackPage, sendLoopbackPage } from './loopback-page.ts';

export interface LoopbackOptions {
  /** Opens an address in a browser. Calls `failed` if there is no browser. */
  readonly open: (url: string, failed: () => void) => Promise<void>;
  /** Called with the URL of the sign-in page. The person can open it if no browser opens by itself. */
  readonly began: (url: string) => void;
  /** The time limit for an answer, in milliseconds. */
  readonly patienceMillis: number;
}

const random = (): string => randomBytes(32).toString('base64url');

/**
 * The result that the redirect contains: a code or an error. Undefined if the redirect does not belong to
 * this request.
 */
type Answer = { readonly code: string } | { readonly error: string } | undefined;

/**
 * Accepts only an answer of this server (RFC 9207) to this request, because any page can make a browser open
 * this address.
 */
function answerIn(query: URLSearchParams, { state }: CodeQuestion, { issuer }: Metadata): Answer {
  if (query.get('state') !== state || query.get('iss') !== issuer) return undefined;
  const [code, error] = [query.get('code'), query.get('error')];
  if (error !== null) return { error };
  return code === null ? undefined : { code };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/**
 * Waits until a person has answered in the browser. Returns undefined if no browser opened or no answer came
 * in time. Throws SignInRefused if the person refused.
 */
export async function signInByBrowser(
  metadata: Metadata,
  scope: string,
  { open, began, patienceMillis }: LoopbackOptions,
): Promise<StoredLogin | undefined> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const verifier = random();
  const question: CodeQuestion = {
    ...{ scope, state: random(), redirectUri: `http://${host}/callback` },
    challenge: createHash('sha256').update(verifier).digest('base64url'),
  };
  let isAnswered = false;

  /** Returns the outcome of the answer and the page that reports it to the person. */
  async function take(answer: NonNullable<Answer>): Promise<[() => StoredLogin, LoopbackPage]> {
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
      return failed(new SignInRefused(why), isRefused ? answeredPage.refused : answeredPage.failed);
    }
    try {
      const given = await exchangeCode(metadata, question, { code: answer.code, verifier });
      return [() => given, answeredPage.signedIn];
    } catch (error) {
      return failed(asError(error), answeredPage.failed);
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
      response.writeHead(302, { location: questionUrl(metadata, question), connection: 'close' }).end();
      return;
    }
    const answer =
      isOurs && pathname === '/callback' ? answerIn(searchParams, question, metadata) : undefined;
    if (answer === undefined || isAnswered) {
      sendLoopbackPage(response, answeredPage.unknown);
      return;
    }
    isAnswered = true;
    const [outcome, page] = await take(answer);
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
  const patience = setTimeout(giveUp, patienceMillis);
  try {
    began(`http://${host}/`);
    await open(`http://${host}/`, giveUp);
    return (await answered)?.();
  } finally {
    clearTimeout(patience);
    server.close();
    server.closeAllConnections();
  }
}
