/**
 * Signing in by the browser of this machine (RFC 8252): the server sends it back to an address of loopback, at a port that
 * only this process listens on, with a code for who knows the verifier (RFC 7636).
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { finished } from 'node:stream/promises';
import { SignInRefused } from '../failures.ts';
import { type CodeQuestion, exchangeCode, type Given, type Metadata, questionUrl } from './oauth.ts';
import { answeredPage, type LoopbackPage, sendLoopbackPage } from './loopback-page.ts';

export interface LoopbackOptions {
  /** Opens an address in a browser; calls `failed` where there is none. */
  readonly open: (url: string, failed: () => void) => Promise<void>;
  /** Told where the person can begin by themselves. */
  readonly began: (url: string) => void;
  /** So long an answer is waited for. */
  readonly patienceMillis: number;
}

const random = (): string => randomBytes(32).toString('base64url');

/** What the browser was sent back with: what was asked for, a no, or nothing of this question. */
type Answer = { readonly code: string } | { readonly error: string } | undefined;

/** Only what this server says (RFC 9207) to this question counts: any page can have a browser open this address. */
function answerIn(query: URLSearchParams, { state }: CodeQuestion, { issuer }: Metadata): Answer {
  if (query.get('state') !== state || query.get('iss') !== issuer) return undefined;
  const [code, error] = [query.get('code'), query.get('error')];
  if (error !== null) return { error };
  return code === null ? undefined : { code };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/**
 * Waits until a person has answered in the browser. Undefined where none could be opened, or no answer came in time. Throws
 * SignInRefused where the answer was a no.
 */
export async function signInByBrowser(
  metadata: Metadata,
  scope: string,
  { open, began, patienceMillis }: LoopbackOptions,
): Promise<Given | undefined> {
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

  /** The outcome of the answer, and the page that tells the person. */
  async function take(answer: NonNullable<Answer>): Promise<[() => Given, LoopbackPage]> {
    const failed = (error: Error, page: LoopbackPage): [() => Given, LoopbackPage] => [
      () => {
        throw error;
      },
      page,
    ];
    if ('error' in answer) {
      const isRefused = answer.error === 'access_denied';
      const why = isRefused ? 'the person refused' : `the server answered: ${answer.error}`;
      return failed(new SignInRefused(why), isRefused ? answeredPage.refused : answeredPage.failed);
    }
    try {
      const given = await exchangeCode(metadata, question, { code: answer.code, verifier });
      return [() => given, answeredPage.signedIn];
    } catch (error) {
      return failed(asError(error), answeredPage.failed);
    }
  }

  let resolve: (outcome: (() => Given) | undefined) => void = () => undefined;
  const answered = new Promise<(() => Given) | undefined>((settle) => (resolve = settle));
  async function hear(
    { method, url = '/', headers }: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { pathname, searchParams } = new URL(url, `http://${host}`);
    // Another name for this address is another site's.
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
    // Where the person has closed the page by now, the answer counts all the same.
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
