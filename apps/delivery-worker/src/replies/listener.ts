/**
 * The SMTP listener for replies to notification mails. It accepts mails to signed reply addresses only and relays
 * nothing. It expects a mail server in front of it that filters spam and verifies senders.
 */
import { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { type ParsedReplyAddress } from '@muster/outbound/reply-addresses';
import { type Logger } from 'pino';
import { type SMTPServerDataStream } from 'smtp-server';
import { acceptReply, type AcceptReplyOptions, ReplyRefused } from './accept-reply.ts';

const maxMailBytes = 10 * 1024 * 1024;
const maxConnections = 20;
const idleTimeoutMillis = 60_000;

export interface ReplyListenerOptions extends AcceptReplyOptions {
  readonly host: string;
  readonly port: number;
  readonly domain: string;
  readonly logger: Logger;
}

export interface ReplyListener {
  readonly port: number;
  readonly close: () => Promise<void>;
}

const temporaryFailure = (): Error => Object.assign(new Error('Try again later'), { responseCode: 451 });

/** Reads a mail. Reads a mail that is too large to its end, because the sender sends it anyway, but keeps nothing. */
async function readMail(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (stream.sizeExceeded) chunks.length = 0;
    else chunks.push(chunk);
  }
  if (stream.sizeExceeded) throw new ReplyRefused('The mail is larger than 10 MiB.', 552);
  return Buffer.concat(chunks);
}

export async function startReplyListener(options: ReplyListenerOptions): Promise<ReplyListener> {
  const { addresses, host, port, domain, logger } = options;
  const { SMTPServer } = await import('smtp-server');
  const recipients = new WeakMap<object, ParsedReplyAddress>();
  const server = new SMTPServer({
    ...{ name: domain, banner: 'Muster', size: maxMailBytes, maxClients: maxConnections },
    ...{ socketTimeout: idleTimeoutMillis, closeTimeout: 5_000, disableReverseLookup: true },
    ...{ authOptional: true, hideSTARTTLS: true, disabledCommands: ['AUTH', 'STARTTLS'], logger: false },
    onMailFrom: ({ address }, _session, done) => {
      // Mails without a sender report failed deliveries. Answering one could begin a loop.
      done(address === '' ? new ReplyRefused('No replies from mail programs.') : undefined);
    },
    onRcptTo: ({ address }, session, done) => {
      const parsed = addresses.parse(address);
      if (parsed === undefined) {
        done(new ReplyRefused('There is no such address.'));
      } else if (session.envelope.rcptTo.length > 0) {
        done(Object.assign(new Error('One recipient at a time'), { responseCode: 452 }));
      } else {
        recipients.set(session.envelope, parsed);
        done();
      }
    },
    onData: (stream, session, done) => {
      const accept = async (): Promise<void> => {
        const raw = await readMail(stream);
        const address = recipients.get(session.envelope);
        if (address === undefined) throw temporaryFailure();
        const outcome = await acceptReply(options, address, raw);
        logger.info({ orgId: address.orgId, outcome }, 'a reply by mail');
      };
      accept().then(
        () => {
          done();
        },
        (error: unknown) => {
          // The texts of refusals contain neither addresses nor texts of the mail.
          const isRefused = error instanceof ReplyRefused;
          if (isRefused) logger.info({ reason: error.message }, 'a reply by mail was refused');
          else logger.error({ err: error }, 'a reply by mail failed');
          done(isRefused ? error : temporaryFailure());
        },
      );
    },
  });
  server.on('error', (error) => {
    logger.debug({ err: error }, 'SMTP');
  });
  server.listen(port, host);
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  };
}
