/**
 * Sends progress notifications during a long call, if the client asked for them with `progressToken`. The
 * first notification turns the HTTP response into an event stream. A call that ends before its first
 * notification gets a plain JSON body.
 */
import { PassThrough } from 'node:stream';
import { type JSONRPCRequest, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { unauthorized } from '@muster/contract';
import { type FastifyReply } from 'fastify';

/** Interval between notifications, and the delay before the first one. */
const notificationIntervalMillis = 5_000;

export interface ToolProgress {
  /**
   * Stops the notifications. If any was sent, sends the response as the last message of the stream and
   * returns true.
   */
  finishWith(text: string): boolean;
}

/**
 * The JSON-RPC error for a token that the API rejected during the call, after the HTTP status was already
 * sent.
 */
export const tokenRejectedMessage = ({ id }: JSONRPCRequest): string =>
  JSON.stringify({
    ...{ jsonrpc: '2.0', id },
    error: { code: ProtocolErrorCode.InvalidRequest, message: unauthorized().message },
  });

export function startProgressNotifications(
  { params }: JSONRPCRequest,
  accept: string,
  reply: FastifyReply,
): ToolProgress {
  const progressToken = params?._meta?.progressToken;
  if (progressToken === undefined || !accept.includes('text/event-stream'))
    return { finishWith: () => false };
  let stream: PassThrough | undefined;
  let notices = 0;
  const write = (text: string) => stream?.write(`event: message\ndata: ${text}\n\n`);
  const notice = () => {
    if (stream === undefined) {
      stream = new PassThrough();
      void reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .send(stream);
    }
    // Skip the notification while the client is not reading.
    if (stream.writableNeedDrain) return;
    notices += 1;
    const progress = (notices * notificationIntervalMillis) / 1_000;
    const said = { progressToken, progress, message: `Waiting, ${progress} s` };
    write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: said }));
  };
  const timer = setInterval(notice, notificationIntervalMillis);
  reply.raw.once('close', () => clearInterval(timer));
  return {
    finishWith: (text) => {
      clearInterval(timer);
      write(text);
      stream?.end();
      return stream !== undefined;
    },
  };
}
