/** What became of a call, in the figures, the trace and one line of the log. Nothing in it is a key or a machine. */
import { describeSpan, durationMillis, elapsedMillis, type Metrics } from '@muster/http';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { refusalOf } from '../api/refusals.ts';

const json = 'application/json; charset=utf-8';

export interface Answer {
  /** What the log names it by; none of a trial. */
  readonly licenseId?: string;
  readonly body: unknown;
}

/** Who asks, as the log names them, as soon as it is known; none of a machine. */
export interface Asking {
  tokenId?: string;
}

/** A path of this name: sends what `work` answers, and records how it ended. */
export function recorded(
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Logger },
  name: string,
  work: (request: FastifyRequest, reply: FastifyReply, asking: Asking) => Promise<Answer>,
  line: 'license' | 'operators' = 'license',
) {
  const count = metrics.operation(name);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    request.operation = name;
    let outcome = 'internal';
    let licenseId: string | undefined;
    const asking: Asking = {};
    try {
      const answer = await work(request, reply, asking);
      outcome = 'ok';
      ({ licenseId } = answer);
      return await reply.header('content-type', json).send(JSON.stringify(answer.body));
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal !== undefined) outcome = refusal.details.reason;
      throw refusal ?? error;
    } finally {
      count(outcome, elapsedMillis(request) / 1_000);
      describeSpan(name, { 'muster.outcome': outcome });
      const durationMs = durationMillis(request);
      logger.info(
        { requestId: request.id, operation: name, licenseId, ...asking, outcome, durationMs },
        line,
      );
    }
  };
}
