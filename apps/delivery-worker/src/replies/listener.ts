/**
 * The SMTP listener for replies to notification mails. It accepts mails to signed reply addresses only and relays
 * nothing. It expects a mail server in front of it that filters spam and verifies senders.
 */
import { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { type ParsedReplyAddress } from '@muster/outbound/reply-addresses';
import { type Logger } from 'pino';
import { type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { acceptReply, type AcceptReplyOptions, ReplyRefused, requireReplyAddress } from './accept-reply.ts';

const maxMailBytes = 256 * 1024;
const maxConnections = 20;
const idleTimeoutMillis = 60_000;
const mailTimeoutMillis = 120_000;

export interface ReplyListenerOptions extends AcceptReplyOptions {
  readonly host: string;
  readonly port: number;
  readonly domain: string;
  /** The time in which a connection must begin a mail, and complete each mail. Otherwise, it is closed. */
  readonly mailTimeoutMillis?: number;
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
  if (stream.sizeExceeded) throw new ReplyRefused('The mail is larger than 256 KiB.', 552);
  return Buffer.concat(chunks);
}

export async function startReplyListener(options: ReplyListenerOptions): Promise<ReplyListener> {
  const { addresses, host, port, domain, logger } = options;
  const { SMTPServer } = await import('smtp-server');
  const recipients = new WeakMap<object, ParsedReplyAddress>();
  const timeouts = new WeakMap<object, NodeJS.Timeout>();
  /** Closes slow connections, because few are open at the same time. The idle timeout starts again with each byte. */
  const restartTimeout = (session: SMTPServerSession): void => {
    clearTimeout(timeouts.get(session));
    const close = (): void => {
      for (const connection of server.connections) if (connection.session === session) connection.close();
    };
    timeouts.set(session, setTimeout(close, options.mailTimeoutMillis ?? mailTimeoutMillis).unref());
  };
  /** Runs a step and answers the sender. The texts of refusals contain neither addresses nor texts of the mail. */
  const answer = (done: (error?: Error) => void, step: () => Promise<void>): void => {
    step().then(
      () => {
        done();
      },
      (error: unknown) => {
        const isRefused = error instanceof ReplyRefused;
        if (isRefused) logger.info({ reason: error.message }, 'a reply by mail was refused');
        else logger.error({ err: error }, 'a reply by mail failed');
        done(isRefused ? error : temporaryFailure());
      },
    );
  };
  const server = new SMTPServer({
    ...{ name: domain, banner: 'Muster', size: maxMailBytes, maxClients: maxConnections },
    ...{ socketTimeout: idleTimeoutMillis, closeTimeout: 5_000, disableReverseLookup: true },
    ...{ authOptional: true, hideSTARTTLS: true, disabledCommands: ['AUTH', 'STARTTLS'], logger: false },
    onConnect: (session, done) => {
      restartTimeout(session);
      done();
    },
    onClose: (session) => {
      clearTimeout(timeouts.get(session));
    },
    onMailFrom: ({ address }, session, done) => {
      restartTimeout(session);
      // Mails without a sender report failed deliveries. Answering one could begin a loop.
      done(address === '' ? new ReplyRefused('No replies from mail programs.') : undefined);
    },
    onRcptTo: ({ address }, session, done) => {
      answer(done, async () => {
        const parsed = addresses.parse(address);
        if (parsed === undefined) throw new ReplyRefused('There is no such address.');
        if (session.envelope.rcptTo.length > 0) throw new ReplyRefused('One recipient at a time', 452);
        await requireReplyAddress(options, parsed);
        recipients.set(session.envelope, parsed);
      });
    },
    onData: (stream, session, done) => {
      answer(done, async () => {
        const raw = await readMail(stream);
        const address = recipients.get(session.envelope);
        if (address === undefined) throw temporaryFailure();
        const outcome = await acceptReply(options, address, raw);
        logger.info({ orgId: address.orgId, outcome }, 'a reply by mail');
      });
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
