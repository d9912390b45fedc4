/** Routes of the operators' API. Each call is authenticated, authorized and rate-limited, and runs in one transaction. */
import { type Pool, sql } from '@muster/driver';
import {
  bearerTokenOf,
  type Limit,
  type Metrics,
  networkOf,
  parseWith,
  type RateLimiter,
  requireWithinLimits,
  scopeTooSmall,
  unauthorized,
  serviceUnavailable,
} from '@muster/http';
import { type AllowedNetwork } from '@muster/outbound';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { recordCalls } from '../activation/recorded.ts';
import { findToken, type OperatorToken, type OperatorScope } from '../operators/tokens.ts';
import { type Db, inTransaction } from '../operators/transaction.ts';
import { createSecretSealer } from '../operators/webhooks.ts';
import { type OpenedVault } from '../vault.ts';
import { type WebhookDispatcher } from '../webhooks/courier.ts';
import { answerOperation } from './answer.ts';
import { licenseOperations } from './licenses.ts';
import { openApiDocumentOf } from './openapi.ts';
import { releaseOperations } from './releases.ts';
import { serviceOpenApiOf } from './service-document.ts';
import { type AnyOperation } from './operation.ts';
import { usageOperations } from './usage.ts';
import { webhookOperations } from './webhooks.ts';

export interface OperatorsOptions {
  /** Database connections with the role muster_license_operators. */
  readonly pool: Pool;
  readonly limiter: RateLimiter;
  readonly rate: Limit['rate'];
  /** The prefix of the Redis keys. */
  readonly prefix: string;
  readonly opened: () => OpenedVault | undefined;
  readonly networks: readonly AllowedNetwork[];
  /** The public URL of this service. If undefined, the host of each request is used. */
  readonly baseUrl: string | undefined;
  readonly courier: WebhookDispatcher;
  /** The default validity of an answer to an offline machine. */
  readonly airGapSeconds: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Counts a call against the limit of a token or an address. Throws 429. */
async function countCall({ limiter, rate, prefix }: OperatorsOptions, callerKey: string): Promise<void> {
  requireWithinLimits(await limiter.take([{ key: `${prefix}:operators:${callerKey}`, rate }]), 'token_limit');
}

/** Authenticates the caller and checks the needed scope. Throws 401, 403 or 429. */
async function authenticateCaller(
  options: OperatorsOptions,
  db: Db,
  { address, secret, needed }: { address: string; secret: string; needed: OperatorScope },
): Promise<OperatorToken> {
  await countCall(options, `from:${networkOf(address)}`);
  const token = await findToken(db, secret);
  if (token === undefined) throw unauthorized();
  await countCall(options, `by:${token.id}`);
  if (!token.scopes.includes(needed)) throw scopeTooSmall({ needed, held: token.scopes });
  return token;
}

/** Returns the public URL of this service, without a trailing slash. */
export const baseUrlOf = ({ baseUrl }: Pick<OperatorsOptions, 'baseUrl'>, request: FastifyRequest): string =>
  (baseUrl ?? `${request.protocol}://${request.host}`).replace(/\/+$/, '');

/** Runs an operation in one transaction that records its token as the actor. */
async function runOperation(
  options: OperatorsOptions,
  operation: AnyOperation,
  { body, baseUrl }: { readonly body: unknown; readonly baseUrl: string },
  authenticate: (db: Db) => Promise<OperatorToken>,
): Promise<unknown> {
  const opened = options.opened();
  if (opened === undefined) throw serviceUnavailable('database');
  const { hasher, seals } = opened;
  const done = await inTransaction(options.pool, async (db) => {
    const token = await authenticate(db);
    await db.all(sql`select set_config('licenses.actor', ${`token ${token.name}`}, true)`);
    const around = {
      opened,
      hasher,
      sealing: createSecretSealer(seals),
      secrets: seals,
      webhooks: options.courier,
    };
    const work = { db, token, baseUrl, ...around, airGapSeconds: options.airGapSeconds };
    return operation.run(
      work,
      parseWith(operation.params, body ?? {}, 'The parameters are invalid.') as never,
    );
  });
  return typeof done === 'function' ? (done as () => Promise<unknown>)() : done;
}

export function addOperatorRoutes(app: FastifyInstance, options: OperatorsOptions): void {
  const operations = [
    ...licenseOperations,
    ...usageOperations,
    answerOperation,
    ...releaseOperations,
    ...webhookOperations(options.networks),
  ];

  for (const it of operations) {
    const run = recordCalls(
      options,
      `operators.${it.path.replace('/', '.')}`,
      async (request, _reply, facts) => {
        const credentials = { address: request.ip, secret: bearerTokenOf(request), needed: it.scope };
        const call = { body: request.body, baseUrl: baseUrlOf(options, request) };
        const body = await runOperation(options, it, call, async (db) => {
          const token = await authenticateCaller(options, db, credentials);
          facts.tokenId = token.id;
          return token;
        });
        return { body };
      },
      'operators',
    );
    app.post(`/api/operators/${it.path}`, run);
  }

  const forOperators = openApiDocumentOf(operations);
  const documents = {
    '/api/operators/openapi.json': JSON.stringify(forOperators),
    '/openapi.json': JSON.stringify(serviceOpenApiOf(forOperators)),
  };
  for (const [path, document] of Object.entries(documents))
    app.get(path, (_request, reply) =>
      reply
        .header('content-type', 'application/json; charset=utf-8')
        .header('cache-control', 'public, max-age=300')
        .send(document),
    );
}
