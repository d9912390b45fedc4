/**
 * Clients of external services for jobs: e-mail, push, forges and identity providers, each with its own
 * connections.
 */
import { type SendForgeRequest } from '@muster/forges';
import { type WebhooksConfig } from '@muster/notifications';
import { createMailer, type Mailer } from '@muster/outbound/mail';
import { createSender, type Sender } from '@muster/outbound/sender';
import { createSlackTokens, type SlackTokens } from '@muster/outbound/slack';
import { type Logger } from 'pino';
import { createAskForge } from './ask-forge.ts';
import { type WorkerConfig } from './config.ts';
import { type IssuerCheckOptions } from './identity-providers.ts';
import { createPusher, type Pusher } from './push.ts';

export interface OutboundClients {
  readonly mailer: Mailer;
  /** Sends push messages; undefined if the installation has no keys for web push. */
  readonly pusher: Pusher | undefined;
  readonly chatSender: Sender;
  /** Signs answer buttons; undefined if no Slack app is configured. */
  readonly slackTokens: SlackTokens | undefined;
  readonly askForge: SendForgeRequest;
  readonly issuers: IssuerCheckOptions;
  readonly close: () => void;
}

/**
 * Creates the clients without connecting. Forges and identity providers may be called in the same networks as
 * webhooks.
 */
export function createOutboundClients(
  config: WorkerConfig,
  { networks, seals }: Pick<WebhooksConfig, 'networks' | 'seals'>,
  logger: Logger,
): OutboundClients {
  const mailer = createMailer(config.mailTo, config.MAIL_FROM, logger);
  const pusher = config.vapid && createPusher({ vapid: config.vapid, hosts: config.PUSH_HOSTS, logger });
  const chatSender = createSender({ networks: [] });
  const forgeSender = createSender({ networks });
  const issuerSender = createSender({ networks });
  return {
    mailer,
    pusher,
    chatSender,
    slackTokens:
      config.SLACK_SIGNING_SECRET === undefined ? undefined : createSlackTokens(config.SECRETS_KEY),
    askForge: createAskForge(forgeSender),
    issuers: { sender: issuerSender, seals, dnsServers: config.DNS_SERVERS },
    close: () => {
      chatSender.close();
      forgeSender.close();
      issuerSender.close();
      mailer.close();
    },
  };
}
