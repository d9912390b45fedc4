/** What delivery-worker takes from its environment. */
import { Resolver } from 'node:dns';
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
import { type MailTo, mailToOf } from '@muster/outbound/mail';
import { parseNodes } from '@muster/placement';
import { z } from 'zod';

/** Where browsers' push services are: a worker that posts to any address a device names could be sent anywhere. */
const pushServices = [
  'fcm.googleapis.com',
  '.push.services.mozilla.com',
  '.push.apple.com',
  '.notify.windows.com',
].join(',');

/** Addresses, each with a port where it is not the usual one. Throws where one is none. */
function parseServers(text: string): string[] {
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

const list = (text: string): string[] => text.split(',').map((part) => part.trim());

export const environment = {
  ...commonEnvironment,
  /** The port of its health and of the dashboard of queues. */
  PORT: commonEnvironment.PORT.default(4103),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4113),
  /** A login that may become muster_app and muster_worker. */
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /**
   * Further servers that organizations are at, as `eu=postgres://…,us=postgres://…`, with the same login; DATABASE_URL names the
   * one that knows where each of them is. The API, the worker, sign-in and the operators' commands need the same.
   */
  DATABASE_NODES: parsedVariable(parseNodes),
  /** Connections to Postgres at most, per process. */
  DATABASE_POOL: z.coerce.number().int().min(4).max(100).default(10),
  /**
   * Where the queues live; it must not evict. Several hosts with commas between are a cluster,
   * `redis+sentinel://host:26379,host:26379/name` a group that sentinels watch.
   */
  REDIS_URL: RedisUrl,
  /** Where people reach Muster, for the links in mails. */
  BASE_URL: z.url({ protocol: /^https?$/ }),
  /** `smtp://user:password@host:587`, or smtps; without it mails go to the folder. */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  /** Where mails are written as .eml while there is no SMTP_URL. */
  MAIL_FOLDER: z.string().optional(),
  /** The sender of mails. */
  MAIL_FROM: z.string().min(3).default('Muster <muster@localhost>'),
  /** A key pair for web push (npx web-push generate-vapid-keys); without it nothing is pushed. */
  VAPID_PUBLIC_KEY: z.string().optional(),
  /** The private one of that pair. */
  VAPID_PRIVATE_KEY: z.string().optional(),
  /** Whom a push service writes to when something is wrong: mailto: or https:. */
  VAPID_SUBJECT: z.url({ protocol: /^(mailto|https)$/ }).optional(),
  /** Hosts, or host:port, that may be pushed to, with commas between; one that begins with a dot stands for all below it. */
  PUSH_HOSTS: z.string().default(pushServices).transform(list),
  /**
   * Networks besides the public ones that webhooks may be sent to, and forges and identity providers called in, such as
   * `10.0.0.0/8,127.0.0.0/8:*`: at the ports 80, 443 and 8443, or at the one after it, or all (`*`). The API, the worker
   * and sign-in need the same.
   */
  WEBHOOK_NETWORKS: parsedVariable(parseNetworks),
  /**
   * Seals the secrets of webhooks, of connections to forges and of identity providers in the database, together with a key
   * there: at least 32 characters. Several with commas between: the first seals, any opens. Without it a copy of the database
   * opens them. The API, the worker and sign-in need the same.
   */
  SECRETS_KEY: parsedVariable(parseKeys),
  /**
   * Servers of the DNS, with commas between, that are asked for the records of identity providers' domains, such as
   * `10.0.0.53` or `10.0.0.53:5353`; those of the machine unless set.
   */
  DNS_SERVERS: parsedVariable(parseServers),
  /** Where people see what an event is about, for webhooks: an address with `{type}`, `{id}`, `{key}` and `{projectId}`. */
  SUBJECT_URL: SubjectUrl,
  /**
   * Mails and pushes that a member gets of what one other member does: so many at once, and one more after so many
   * seconds. Further ones wait and go out as one message for each kind.
   */
  LIMIT_MESSAGES: rateVariable('5/120'),
  /** How many days notifications that were read, and runs of agents that ended, are kept. */
  RETENTION_DAYS: z.coerce.number().int().min(1).max(3_650).default(90),
};

export type Config = ReturnType<typeof readConfig>;

export interface Vapid {
  readonly publicKey: string;
  readonly privateKey: string;
  readonly subject: string;
}

export function readConfig(from: Record<string, string | undefined> = process.env) {
  const config = parseEnvironment(environment, from);
  return { ...config, mailTo: requiredMailTo(config), vapid: vapidOf(config) };
}

type Parsed = ReturnType<typeof parseEnvironment<typeof environment>>;

function requiredMailTo(config: Parsed): MailTo {
  const mailTo = mailToOf(config);
  if (mailTo !== undefined) return mailTo;
  throw new ConfigError('the configuration does not fit:\n  neither SMTP_URL nor MAIL_FOLDER is set');
}

function vapidOf(config: Parsed): Vapid | undefined {
  const { VAPID_PUBLIC_KEY: publicKey, VAPID_PRIVATE_KEY: privateKey, VAPID_SUBJECT: subject } = config;
  if (publicKey === undefined && privateKey === undefined && subject === undefined) return undefined;
  if (publicKey !== undefined && privateKey !== undefined && subject !== undefined)
    return { publicKey, privateKey, subject };
  throw new ConfigError(
    'the configuration does not fit:\n  VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY and VAPID_SUBJECT go together',
  );
}
