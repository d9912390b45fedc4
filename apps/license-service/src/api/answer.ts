/** The operators' API operation that answers the activation request of an offline machine. */
import { z } from 'zod';
import { answerRequest } from '../air-gap/answer.ts';
import { mostDays } from '../air-gap/days.ts';
import { longestRequest, readRequest } from '../air-gap/request.ts';
import { secondsOf } from '../operators/spans.ts';
import { operation } from './operation.ts';
import { Moment, Span } from './records.ts';

const secondsPerDay = 86_400;

const RunFor = Span.refine(
  (text) => (secondsOf(text) ?? 0) <= mostDays * secondsPerDay,
  `an answer lets a machine run for at most ${mostDays}d`,
);

export const answerOperation = operation({
  path: 'licenses/answer',
  scope: 'change',
  summary: 'Answer the request of a machine that never comes online',
  description:
    'Activates the license as the machine itself would online. Where that is refused, the answer says so to the machine, and ' +
    '`refused` says why. The same request again takes no other slot.',
  params: z.strictObject({
    request: z
      .string()
      .min(1)
      .max(longestRequest)
      .describe('What the program wrote, as it stands in its file.'),
    for: RunFor.optional().describe(
      'How long the machine may run by the answer, never past the end of the license; AIR_GAP_DAYS unless said.',
    ),
  }),
  result: z.object({
    answer: z.string().describe('What is carried back, as a file.'),
    licenseId: z.uuid().nullable().describe('The license that the machine has now.'),
    offlineUntil: Moment.describe('How long the machine may run by the answer.'),
    refused: z.object({ reason: z.string(), message: z.string() }).nullable(),
  }),
  run: async ({ db, token, opened, airGapSeconds }, { request, for: span }) => {
    const seconds = secondsOf(span ?? '') ?? airGapSeconds;
    const how = { seconds, product: token.product };
    const { answer, outcome } = await answerRequest(db, opened, readRequest(request), how);
    if (outcome.kind === 'granted')
      return { answer, licenseId: outcome.licenseId, offlineUntil: outcome.offlineUntil, refused: null };
    const { reason, message } = outcome;
    return { answer, licenseId: null, offlineUntil: null, refused: { reason, message } };
  },
});
