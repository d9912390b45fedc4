/** An attacker between a client and the service, who forwards answers, changes them or cuts the connection. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The answer that the proxy gives to the client. With undefined, the proxy cuts the connection. */
export type RelayedAnswer =
  | { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }
  | undefined;
/** The request of the client as the proxy received it. */
export interface InterceptedRequest {
  readonly nonce: string | undefined;
  readonly body: string;
}
export type AlterAnswer = (
  answer: NonNullable<RelayedAnswer>,
  target: string,
  requestedPaths: InterceptedRequest,
) => RelayedAnswer;

export const passAnswerThrough: AlterAnswer = (answer) => answer;
export const dropAnswer: AlterAnswer = () => undefined;

/** A function that replaces the request body before the proxy forwards it to the service. */
export type AlterBody = (body: string) => string;
const keepBody: AlterBody = (body) => body;

/** A proxy between the client and the service, which can change answers and requests. */
export interface InterceptingProxy {
  readonly url: string;
  alterAnswer: AlterAnswer;
  alterBody: AlterBody;
  /** Makes the proxy forward everything unchanged from now on. */
  readonly resetAlterations: () => void;
  /** The requests that the proxy has received, such as `POST /api/activate`, in their order. */
  readonly asked: string[];
  readonly close: () => void;
}

export async function startInterceptingProxy(target: string): Promise<InterceptingProxy> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method = 'GET', url = '/' } = request;
      asked.push(`${method} ${url.replace(/\?.*/, '')}`);
      const nonce = request.headers['license-nonce']?.toString();
      const product = request.headers['license-product']?.toString();
      const body = await text(request);
      const answer = await fetch(target + url, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(nonce !== undefined && { 'license-nonce': nonce }),
          ...(product !== undefined && { 'license-product': product }),
        },
        ...(method === 'POST' && { body: made.alterBody(body) }),
      });
      const said = made.alterAnswer(
        { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() },
        url,
        { nonce, body },
      );
      if (said === undefined) {
        response.destroy();
        return;
      }
      const { 'content-length': _, ...headers } = said.headers;
      response.writeHead(said.status, { ...headers, connection: 'close' }).end(said.body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const made: InterceptingProxy = {
    ...{ alterAnswer: passAnswerThrough, alterBody: keepBody, asked },
    resetAlterations: () => {
      made.alterAnswer = passAnswerThrough;
      made.alterBody = keepBody;
    },
    close: () => void server.close(),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
  return made;
}
