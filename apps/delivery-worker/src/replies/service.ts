/** Replies to notification mails, if the installation accepts any. */
import { type Pool } from '@muster/driver';
import { createReplyAddresses, type ReplyAddresses } from '@muster/outbound/reply-addresses';
import { type HandlerEnvironment } from '@muster/runtime';
import { type Logger } from 'pino';
import { type WorkerConfig } from '../config.ts';
import { type ReplyListener, startReplyListener } from './listener.ts';

export interface ReplyService {
  /** Signs the addresses for replies; undefined if none are accepted. */
  readonly addresses: ReplyAddresses | undefined;
  readonly start: () => Promise<void>;
  /** Accepts no more mails, and waits for those that are being received. */
  readonly stop: () => Promise<void>;
}

interface ReplyServiceOptions {
  readonly pool: Pool;
  readonly environment: HandlerEnvironment;
  readonly logger: Logger;
}

export function createReplyService(config: WorkerConfig, options: ReplyServiceOptions): ReplyService {
  const { replies, HOST: host, MAIL_FROM: mailFrom, SECRETS_KEY: keys } = config;
  if (replies === undefined)
    return { addresses: undefined, start: () => Promise.resolve(), stop: () => Promise.resolve() };
  const addresses = createReplyAddresses(replies.domain, keys);
  let listener: ReplyListener | undefined;
  return {
    addresses,
    start: async () => {
      listener = await startReplyListener({ ...options, ...replies, addresses, host, mailFrom });
    },
    stop: async () => {
      await listener?.close();
    },
  };
}
