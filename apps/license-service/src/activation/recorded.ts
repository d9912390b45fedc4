/** Records metrics, a span and one log line per call. None of them contains a key or a machine. */
import { type CallFacts, createCallRecorder, type Metrics } from '@muster/http';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { refusalOf } from '../api/refusals.ts';

const json = 'application/json; charset=utf-8';

export interface RecordedResponse {
  /** Identifies the license in the log; undefined for a trial. */
  readonly licenseId?: string;
  readonly body: unknown;
}

/** Handles a path of this name: sends the answer of `work`, and records how the call ended. */
export function recorded(
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Logger },
  name: string,
  work: (request: FastifyRequest, reply: FastifyReply, facts: CallFacts) => Promise<RecordedResponse>,
  line: 'license' | 'operators' = 'license',
) {
  const recordCall = createCallRecorder(name, {
    ...{ metrics, logger, line },
    refusalOf: ({ details }) => ({ outcome: details.reason, reason: undefined }),
  });
  return (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const facts: CallFacts = {};
    return recordCall(request, facts, async () => {
      try {
        const answer = await work(request, reply, facts);
        facts.licenseId = answer.licenseId;
        return await reply.header('content-type', json).send(JSON.stringify(answer.body));
      } catch (error) {
        throw refusalOf(error) ?? error;
      }
    });
  };
}
