/** What is no operation of the contract, and is counted, traced and logged like one. */
import { ApiError, describeSpan, durationMillis, elapsedMillis, type Metrics } from '@muster/http';
import { type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';

/** What the log says of a call beside its outcome; an outcome named here counts instead of `ok`. */
export type Said = Partial<Record<'outcome' | 'orgId' | 'memberId' | 'connectionId', string>>;

/** The work may add to what is said of it. */
export type AsOperation = <Result>(
  request: FastifyRequest,
  said: Said,
  work: () => Promise<Result>,
) => Promise<Result>;

export function createAsOperation(
  operation: string,
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Logger },
): AsOperation {
  const count = metrics.operation(operation);
  return async (request, said, work) => {
    request.operation = operation;
    let outcome = 'internal';
    let reason: string | undefined;
    try {
      const result = await work();
      outcome = said.outcome ?? 'ok';
      return result;
    } catch (error) {
      if (error instanceof ApiError) [outcome, reason] = [error.code, error.details.reason];
      throw error;
    } finally {
      count(outcome, elapsedMillis(request) / 1_000);
      describeSpan(operation, { 'muster.outcome': outcome });
      const durationMs = durationMillis(request);
      logger.info({ requestId: request.id, operation, ...said, outcome, reason, durationMs }, 'operation');
    }
  };
}
