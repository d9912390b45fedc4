/**
 * Receives clicks on the buttons of questions from Slack. They carry no token and are authenticated by their signature,
 * which covers the raw bytes of the body. Slack expects the response within three seconds.
 */
import { isSignedBySlack } from '@muster/outbound/slack';
import {
  type CallFacts,
  createCallRecorder,
  createMemoryStore,
  type Metrics,
  networkOf,
  type Rate,
  type RateLimiter,
  requireWithinLimits,
} from '@muster/http';
import { unauthorized } from '@muster/contract';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { answerFromSlack, type SlackAnswerOptions } from './answer-question.ts';
import { parseSlackClick } from './click.ts';

export interface SlackRouteOptions extends SlackAnswerOptions {
  readonly signingSecret: string;
  /** Remembers signatures, so that a request that was recorded cannot be sent again. */
  readonly rateLimiter: RateLimiter;
  /** Rate limit per address for refused requests. */
  readonly refusedRequestRate: Rate;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Maximum size of a request. It contains the message with the button, which has some 10 KiB, URL-encoded. */
const bodyLimit = 128 * 1024;

/** Each signature is accepted once until Slack's time limit has passed, also for a clock that is ahead. */
const signatureRate: Rate = { burst: 1, seconds: 11 * 60 };

/** Clicks of one Slack account. Each opens a transaction. */
const accountRate: Rate = { burst: 20, seconds: 60 };

const headerOf = (request: FastifyRequest, name: string): string => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
};

export function addSlackRoute(app: FastifyInstance, options: SlackRouteOptions): void {
  const { signingSecret, rateLimiter, refusedRequestRate } = options;
  const recordCall = createCallRecorder('slack.answer', options);
  const store = createMemoryStore();
  const shareOf = ({ ip }: FastifyRequest) => ({ key: `refused ${networkOf(ip)}`, rate: refusedRequestRate });

  /** Throws 401 unless Slack has sent this request, for the first time. */
  const authenticate = async (request: FastifyRequest, body: Buffer): Promise<void> => {
    const signature = headerOf(request, 'x-slack-signature');
    const timestamp = headerOf(request, 'x-slack-request-timestamp');
    if (!isSignedBySlack(signingSecret, { timestamp, signature, body }))
      throw unauthorized('slack_signature');
    const [seen] = await rateLimiter.take([{ key: `slack ${signature}`, rate: signatureRate }]);
    if (seen !== undefined && seen.waitMillis > 0) throw unauthorized('slack_signature');
  };

  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer' },
      (_request, bytes, done) => {
        done(null, bytes);
      },
    );
    scope.post(
      '/hooks/slack',
      {
        bodyLimit,
        onRequest: async (request: FastifyRequest) => {
          requireWithinLimits(await store.take([shareOf(request)]), 'delivery_limit');
          request.party = 'slack';
        },
      },
      async (request, reply) => {
        const facts: CallFacts = {};
        await recordCall(request, facts, async () => {
          const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
          await authenticate(request, body);
          await store.refund([shareOf(request)]);
          const click = parseSlackClick(body);
          if (click === undefined) {
            facts.outcome = 'ignored';
            return;
          }
          const key = `slack account ${click.teamId} ${click.userId}`;
          requireWithinLimits(await rateLimiter.take([{ key, rate: accountRate }]), 'delivery_limit');
          Object.assign(facts, await answerFromSlack(options, click));
        });
        return reply.code(200).header('cache-control', 'no-store').send();
      },
    );
  });
}
