/** Metrics, a span and one log line for each call, the same on every service. */
import { describeSpan } from '@muster/tracing';
import { ApiError } from '@muster/contract';
import { type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { durationMillis, elapsedMillis } from './elapsed.ts';
import { type Metrics } from './metrics.ts';

/** Fields of the log line that identify the call. `outcome` replaces `ok` for a call that succeeded. */
export type CallFacts = Partial<
  Record<
    'outcome' | 'orgId' | 'memberId' | 'agentId' | 'connectionId' | 'licenseId' | 'tokenId',
    string | null | undefined
  >
>;

/** Runs `work` and records how it ended. `work` may add facts while it runs. */
export type RecordCall = <Result>(
  request: FastifyRequest,
  facts: CallFacts,
  work: () => Promise<Result>,
) => Promise<Result>;

/** The outcome and the reason of a refused call, for metrics and the log. */
type RefusedOutcome = Readonly<Record<'outcome' | 'reason', string | undefined>>;

export interface RecordCallOptions {
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** The message of the log line; `operation` by default. */
  readonly logMessage?: string;
  /** Converts a refusal to an outcome and a reason; by default the code of the error is the outcome. */
  readonly refusalOf?: (error: ApiError) => RefusedOutcome;
}

const refusalByCode = ({ code, details }: ApiError): RefusedOutcome => ({
  outcome: code,
  reason: details.reason,
});

/** Creates the recorder for calls of this operation. */
export function createCallRecorder(
  operation: string,
  { metrics, logger, logMessage: line = 'operation', refusalOf = refusalByCode }: RecordCallOptions,
): RecordCall {
  const count = metrics.createOperationCounter(operation);
  return async (request, facts, work) => {
    request.operation = operation;
    let outcome = 'internal';
    let reason: string | undefined;
    try {
      const result = await work();
      outcome = facts.outcome ?? 'ok';
      return result;
    } catch (error) {
      if (error instanceof ApiError) ({ outcome = outcome, reason } = refusalOf(error));
      throw error;
    } finally {
      count(outcome, elapsedMillis(request) / 1_000);
      const { orgId } = facts;
      describeSpan(operation, {
        ...(typeof orgId === 'string' && { 'muster.organization': orgId }),
        'muster.outcome': outcome,
      });
      const durationMs = durationMillis(request);
      logger.info({ requestId: request.id, operation, ...facts, outcome, reason, durationMs }, line);
    }
  };
}
