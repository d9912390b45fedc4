/** The environment variables of delivery-worker. */
import { Resolver } from 'node:dns';
import { describeFilesConfigFault, filesEnvironment } from '@muster/attachments';
import {
  ConfigError,
  commonEnvironment,
  parsedVariable,
  parseEnvironment,
  parseKeys,
  rateVariable,
  RedisUrl,
} from '@muster/http';
import { SubjectUrl } from '@muster/notifications';
import { parseNetworks } from '@muster/outbound';
import { type MailDestination, mailDestinationOf } from '@muster/outbound/mail';
import { parseNodes } from '@muster/placement';
import { z } from 'zod';

/**
 * Hosts of the browsers' push services. Without this list, a device could make the worker post to any URL.
 */
const pushServiceHosts = [
  'fcm.googleapis.com',
  '.push.services.mozilla.com',
  '.push.apple.com',
  '.notify.windows.com',
].join(',');

/** Parses DNS server addresses, each with an optional port. Throws if one is invalid. */
function parseDnsServers(text: string): string[] {
  const servers = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  try {
    new Resolver().setServers(servers);
  } catch {
    throw new Error('must be addresses such as 10.0.0.53 or [fd00::53]:5353');
  }
  return servers;
}

const splitList = (text: string): string[] => text.split(',').map((part) => part.trim());

export const environment = {
  ...commonEnvironment,
  /** Port of the health checks and of the queue dashboard. */
  PORT: commonEnvironment.PORT.default(4103),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4113),
  /** URL of the primary database. Its login must be a member of the roles muster_app and muster_worker. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /**
   * Further database servers that hold organizations, as `eu=postgres://…,us=postgres://…`, with the same
   * login. The server in DATABASE_URL knows where each organization is. The API, the worker, sign-in and the
   * operators' commands need the same value.
   */
  DATABASE_NODES: parsedVariable(parseNodes),
  /** Maximum number of connections to Postgres, per process. */
  DATABASE_POOL: z.coerce.number().int().min(4).max(100).default(10),
  /**
   * URL of the Redis that holds the queues; it must not evict keys. A comma-separated list of hosts is a
   * cluster; `redis+sentinel://host:26379,host:26379/name` is a group with sentinels.
   */
  REDIS_URL: RedisUrl,
  /** Public URL of Muster, for links in e-mails. */
  BASE_URL: z.url({ protocol: /^https?$/ }),
  /**
   * Mail server, as `smtp://user:password@host:587` or smtps; without it, e-mails are written to MAIL_FOLDER.
   */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  /** Folder for e-mails as .eml files, if SMTP_URL is not set. */
  MAIL_FOLDER: z.string().optional(),
  /** Sender of e-mails. */
  MAIL_FROM: z.string().min(3).default('Muster <muster@localhost>'),
  /**
   * Domain of the addresses for replies to notification mails, such as reply.muster.example. The mail server of this
   * domain passes its mails on to MAIL_REPLY_PORT. Without both, mails cannot be replied to.
   */
  MAIL_REPLY_DOMAIN: z
    .string()
    .max(190)
    .regex(/^[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*$/, 'must be a host name')
    .optional(),
  /**
   * Port on which replies are accepted by SMTP, without TLS and authentication. Only a mail server that verifies SPF,
   * DKIM and DMARC may reach it.
   */
  MAIL_REPLY_PORT: z.coerce.number().int().min(1).max(65_535).optional(),
  /**
   * The signing secret of the Slack app in which questions can be answered; without it, messages in Slack have no
   * answer buttons. The API and the worker need the same value.
   */
  SLACK_SIGNING_SECRET: z.string().min(16).optional(),
  /**
   * Public key for web push (npx web-push generate-vapid-keys); without a key pair, no push messages are
   * sent.
   */
  VAPID_PUBLIC_KEY: z.string().optional(),
  /** Private key for web push. */
  VAPID_PRIVATE_KEY: z.string().optional(),
  /** Contact for push services in case of problems: mailto: or https:. */
  VAPID_SUBJECT: z.url({ protocol: /^(mailto|https)$/ }).optional(),
  /**
   * Comma-separated hosts, or host:port, of allowed push services. A host that begins with a dot includes all
   * of its subdomains.
   */
  PUSH_HOSTS: z.string().default(pushServiceHosts).transform(splitList),
  /**
   * Non-public networks in which webhooks, forges and identity providers may be called, such as
   * `10.0.0.0/8,127.0.0.0/8:*`. Ports 80, 443 and 8443 are allowed, or the port after the network, or all
   * (`*`). The API, the worker and sign-in need the same value.
   */
  WEBHOOK_NETWORKS: parsedVariable(parseNetworks),
  /**
   * Encrypts the secrets of webhooks, forge connections and identity providers in the database, together with
   * a key stored there: at least 32 characters. In a comma-separated list, the first key encrypts and any key
   * decrypts. Without it, a copy of the database is enough to decrypt them. The API, the worker and sign-in
   * need the same value.
   */
  SECRETS_KEY: parsedVariable(parseKeys),
  /**
   * Comma-separated DNS servers for the records of identity providers' domains, such as `10.0.0.53` or
   * `10.0.0.53:5353`; the machine's own by default.
   */
  DNS_SERVERS: parsedVariable(parseDnsServers),
  /**
   * URL template of the page that shows an event's subject, for webhooks: with `{type}`, `{id}`, `{key}` and
   * `{projectId}`.
   */
  SUBJECT_URL: SubjectUrl,
  /**
   * Rate limit for the e-mails and push messages that a member gets about one other member's actions, as
   * `burst/seconds`. After the burst, one more message is sent per that number of seconds. Other messages are
   * delayed and combined into one message per kind.
   */
  LIMIT_MESSAGES: rateVariable('5/120'),
  /** The hour of the day, in UTC, at which daily digests of notifications are sent. */
  DIGEST_HOUR_UTC: z.coerce.number().int().min(0).max(23).default(7),
  ...filesEnvironment,
  /** Days for which read notifications and ended runs of agents are kept. */
  RETENTION_DAYS: z.coerce.number().int().min(1).max(3_650).default(90),
};

export type WorkerConfig = ReturnType<typeof readConfig>;

export interface Vapid {
  readonly publicKey: string;
  readonly privateKey: string;
  readonly subject: string;
}

export function readConfig(variables: Record<string, string | undefined> = process.env) {
  const config = parseEnvironment(environment, variables);
  const filesFault = describeFilesConfigFault(config);
  if (filesFault !== undefined) throw new ConfigError(`The configuration is invalid:\n  ${filesFault}`);
  return {
    ...config,
    mailTo: requireMailDestination(config),
    replies: repliesOf(config),
    vapid: vapidOf(config),
  };
}

type ParsedEnvironment = ReturnType<typeof parseEnvironment<typeof environment>>;

function requireMailDestination(config: ParsedEnvironment): MailDestination {
  const mailTo = mailDestinationOf(config);
  if (mailTo !== undefined) return mailTo;
  throw new ConfigError('The configuration is invalid:\n  neither SMTP_URL nor MAIL_FOLDER is set');
}

/** Returns the domain and the port for replies to mails; undefined if none is set. */
function repliesOf(
  config: ParsedEnvironment,
): { readonly domain: string; readonly port: number } | undefined {
  const { MAIL_REPLY_DOMAIN: domain, MAIL_REPLY_PORT: port } = config;
  if (domain === undefined && port === undefined) return undefined;
  if (domain !== undefined && port !== undefined) return { domain, port };
  throw new ConfigError('The configuration is invalid:\n  MAIL_REPLY_DOMAIN and MAIL_REPLY_PORT go together');
}

function vapidOf(config: ParsedEnvironment): Vapid | undefined {
  const { VAPID_PUBLIC_KEY: publicKey, VAPID_PRIVATE_KEY: privateKey, VAPID_SUBJECT: subject } = config;
  if (publicKey === undefined && privateKey === undefined && subject === undefined) return undefined;
  if (publicKey !== undefined && privateKey !== undefined && subject !== undefined)
    return { publicKey, privateKey, subject };
  throw new ConfigError(
    'The configuration is invalid:\n  VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY and VAPID_SUBJECT go together',
  );
}
