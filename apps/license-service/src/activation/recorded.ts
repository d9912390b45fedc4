/** What became of a call, in the figures, the trace and one line of the log. Nothing in it is a key or a machine. */
import { ApiError, describeSpan, durationMillis, elapsedMillis, type Metrics } from '@muster/http';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';

const json = 'application/json; charset=utf-8';

export interface Answer {
  /** What the log names it by; none of a trial. */
  readonly licenseId?: string;
  readonly body: unknown;
}

/** A path of this name: sends what `work` answers, and records how it ended. */
export function recorded(
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Logger },
  name: string,
  work: (request: FastifyRequest, reply: FastifyReply) => Promise<Answer>,
) {
  const count = metrics.operation(name);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    request.operation = name;
    let outcome = 'internal';
    let licenseId: string | undefined;
    try {
      const answer = await work(request, reply);
      outcome = 'ok';
      ({ licenseId } = answer);
      return await reply.header('content-type', json).send(JSON.stringify(answer.body));
    } catch (error) {
      if (error instanceof ApiError) outcome = error.details.reason;
      throw error;
    } finally {
      count(outcome, elapsedMillis(request) / 1_000);
      describeSpan(name, { 'muster.outcome': outcome });
      const durationMs = durationMillis(request);
      logger.info({ requestId: request.id, operation: name, licenseId, outcome, durationMs }, 'license');
    }
  };
}
