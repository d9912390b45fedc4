/** The operators' API operation that answers the activation request of an offline machine. */
import { z } from 'zod';
import { answerAirGapRequest } from '../air-gap/answer.ts';
import { maxOfflineDays } from '../air-gap/days.ts';
import { maxRequestLength, parseAirGapRequest } from '../air-gap/request.ts';
import { durationSecondsOf } from '../operators/spans.ts';
import { defineOperation } from './operation.ts';
import { NullableTime, Span } from './records.ts';

const secondsPerDay = 86_400;

const OfflineRunDuration = Span.refine(
  (text) => (durationSecondsOf(text) ?? 0) <= maxOfflineDays * secondsPerDay,
  `an answer can let a machine run for at most ${maxOfflineDays}d`,
);

export const answerOperation = defineOperation({
  path: 'licenses/answer',
  scope: 'change',
  summary: 'Answer the request of an offline machine',
  description:
    'Activates the license as if the machine were online. If activation is refused, the answer tells the machine, and ' +
    '`refused` has the reason. Repeating the same request uses no further slot.',
  params: z.strictObject({
    request: z
      .string()
      .min(1)
      .max(maxRequestLength)
      .describe('The content of the request file that the program wrote.'),
    for: OfflineRunDuration.optional().describe(
      'How long the machine may run with the answer, at most until the license ends; the default is AIR_GAP_DAYS.',
    ),
  }),
  result: z.object({
    answer: z.string().describe('The answer file, to be copied to the machine.'),
    licenseId: z.uuid().nullable().describe('The license that is now active on the machine.'),
    offlineUntil: NullableTime.describe('How long the machine may run with the answer.'),
    refused: z.object({ reason: z.string(), message: z.string() }).nullable(),
  }),
  run: async ({ db, token, opened, airGapSeconds }, { request, for: span }) => {
    const seconds = durationSecondsOf(span ?? '') ?? airGapSeconds;
    const how = { seconds, product: token.product };
    const { answer, outcome } = await answerAirGapRequest(db, opened, parseAirGapRequest(request), how);
    if (outcome.kind === 'granted')
      return { answer, licenseId: outcome.licenseId, offlineUntil: outcome.offlineUntil, refused: null };
    const { reason, message } = outcome;
    return { answer, licenseId: null, offlineUntil: null, refused: { reason, message } };
  },
});
