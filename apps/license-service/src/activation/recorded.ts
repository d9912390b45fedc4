/** Records metrics, a span and one log line per call. None of them contains a key or a machine. */
import { type CallFacts, createCallRecorder, type Metrics } from '@muster/http';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { apiErrorOf } from '../api/refusals.ts';

const jsonContentType = 'application/json; charset=utf-8';

export interface RecordedResponse {
  /** Identifies the license in the log; undefined for a trial. */
  readonly licenseId?: string;
  readonly body: unknown;
}

/** Handles a path of this name: sends the answer of `work`, and records how the call ended. */
export function recordCalls(
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Logger },
  callName: string,
  handler: (request: FastifyRequest, reply: FastifyReply, facts: CallFacts) => Promise<RecordedResponse>,
  logLineKind: 'license' | 'operators' = 'license',
) {
  const recordCall = createCallRecorder(callName, {
    ...{ metrics, logger, logMessage: logLineKind },
    refusalOf: ({ details }) => ({ outcome: details.reason, reason: undefined }),
  });
  return (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const facts: CallFacts = {};
    return recordCall(request, facts, async () => {
      try {
        const answer = await handler(request, reply, facts);
        facts.licenseId = answer.licenseId;
        return await reply.header('content-type', jsonContentType).send(JSON.stringify(answer.body));
      } catch (error) {
        throw apiErrorOf(error) ?? error;
      }
    });
  };
}
