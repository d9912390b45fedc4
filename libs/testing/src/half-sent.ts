/** Sends requests that stop in the middle of their body. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface HalfSent {
  readonly path: string;
  readonly token?: string;
  /** The value of Content-Length. */
  readonly length?: number;
  /** The part of the body that is sent. */
  readonly sent?: string;
  /** The local address from which the request is sent. */
  readonly from?: string;
}

const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';

/** The number of bytes that the socket receives before the answer. */
export const heardBefore = goOn.length;

/** Sends the headers and the given part of the body. Returns once the service has confirmed the headers. */
export async function sendHalf(
  url: string,
  { path, token, length = 100, sent = '', from = '127.0.0.1' }: HalfSent,
): Promise<Socket> {
  const { port, host } = new URL(url);
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: from });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const lines = [
    `POST ${path} HTTP/1.1`,
    ...[
      `Host: ${host}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
      'Expect: 100-continue',
    ],
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${sent}`);
  let heard = null;
  while ((heard = socket.read(goOn.length) as Buffer | null) === null) await once(socket, 'readable');
  if (heard.toString() !== goOn) throw new Error(`the service did not say to go on: ${heard.toString()}`);
  return socket;
}
