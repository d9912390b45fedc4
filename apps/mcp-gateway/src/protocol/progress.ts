/**
 * What a client hears that asks how a call goes (`progressToken`) while it waits: that it is waited on. Such an answer
 * becomes a stream at the first notice; one that comes before that is one JSON body, as for all others.
 */
import { PassThrough } from 'node:stream';
import { type JSONRPCRequest, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { unauthorized } from '@muster/registry';
import { type FastifyReply } from 'fastify';

/** Between two notices, and before the first. */
const everyMillis = 5_000;

export interface Progress {
  /** Ends the notices. Where there was one it sends the answer as the stream's last message, and answers true. */
  end(text: string): boolean;
}

/** The JSON-RPC answer to a token that the API refused while the call waited, when HTTP's status was sent long ago. */
export const refusedText = ({ id }: JSONRPCRequest): string =>
  JSON.stringify({
    ...{ jsonrpc: '2.0', id },
    error: { code: ProtocolErrorCode.InvalidRequest, message: unauthorized().message },
  });

export function tellProgress({ params }: JSONRPCRequest, accept: string, reply: FastifyReply): Progress {
  const progressToken = params?._meta?.progressToken;
  if (progressToken === undefined || !accept.includes('text/event-stream')) return { end: () => false };
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
    // A client that takes nothing gets no more of them.
    if (stream.writableNeedDrain) return;
    notices += 1;
    const progress = (notices * everyMillis) / 1_000;
    const said = { progressToken, progress, message: `Waiting, ${progress} s` };
    write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: said }));
  };
  const timer = setInterval(notice, everyMillis);
  reply.raw.once('close', () => clearInterval(timer));
  return {
    end: (text) => {
      clearInterval(timer);
      write(text);
      stream?.end();
      return stream !== undefined;
    },
  };
}
