/** Counts the usage that the machines of a license report, and checks it against the limits of its meters. */
import { type Pool } from '@muster/driver';
import { refusal } from '@muster/http';
import { type z } from 'zod';
import { activationRefusal, notActivatedError, unknownKeyError } from '../activation/answers.ts';
import { type ActivationRequest } from '../activation/question.ts';
import { type RecordedResponse } from '../activation/recorded.ts';
import { countUsage } from '../activation/statements.ts';
import { type UsageParams } from './records.ts';

/**
 * Counts the events of a machine that holds the license. Throws 422 if all events were refused; nothing was counted
 * then. Otherwise the answer has the outcome of each event.
 */
export async function reportUsage(
  { pool }: { readonly pool: Pool },
  { key, machineId, claim, extra, reply }: ActivationRequest<z.output<typeof UsageParams>>,
): Promise<RecordedResponse> {
  const counted = await countUsage(pool, claim, JSON.stringify(extra.events));
  if (counted === undefined) throw unknownKeyError();
  const { id, state, usage } = counted;
  reply.header('license-state', state);
  const refused = activationRefusal(counted);
  if (refused !== undefined) throw refused;
  if (usage === null) throw notActivatedError();
  if (usage.events.length > 0 && usage.events.every(({ outcome }) => outcome === 'refused'))
    throw refusal(
      usage.events.some(({ reason }) => reason === 'meter_exceeded') ? 'meter_exceeded' : 'events_refused',
      { ...usage },
    );
  return { licenseId: id, body: { success: true, license: { key, machineId }, ...usage } };
}
