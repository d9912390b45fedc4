/** Sends requests that stop in the middle of their body. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface PartialRequest {
  readonly path: string;
  readonly token?: string;
  /** The value of Content-Length. */
  readonly contentLength?: number;
  /** The part of the body that is sent. */
  readonly sentBody?: string;
  /** The local address from which the request is sent. */
  readonly localAddress?: string;
}

const continueResponse = 'HTTP/1.1 100 Continue\r\n\r\n';

/** The number of bytes that the socket receives before the answer. */
export const bytesBeforeAnswer = continueResponse.length;

/** Sends the headers and the given part of the body. Returns once the service has confirmed the headers. */
export async function sendPartialRequest(
  url: string,
  { path, token, contentLength = 100, sentBody = '', localAddress = '127.0.0.1' }: PartialRequest,
): Promise<Socket> {
  const { port, host } = new URL(url);
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    `Content-Length: ${contentLength}`,
    'Expect: 100-continue',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${sentBody}`);
  let heard = null;
  while ((heard = socket.read(continueResponse.length) as Buffer | null) === null)
    await once(socket, 'readable');
  if (heard.toString() !== continueResponse)
    throw new Error(`the service did not say to go on: ${heard.toString()}`);
  return socket;
}
