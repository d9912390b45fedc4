import { check, type Check } from '../check.ts';
import { checkAnswers, checkRefusals } from '../checks/answers.ts';
import { type Call, onlyAsks } from '../journal.ts';
import { allPages, from } from '../pages.ts';
import { tally } from '../attempts.ts';
import { allEvents } from './events.ts';
import { type Work } from './work.ts';

/** The kinds of events that a holder's deeds and the forge make; all others are what it was told. */
const kindsOfDeeds = ['acquired', 'checkpointed', 'offered', 'released', 'submitted', 'completed', 'forge'];

/** What must hold of all that was acknowledged: it is there, once. */
export async function checkDeliveryTrail(work: Work): Promise<Check[]> {
  return [await checkStreams(work), await checkAudit(work), ...checkCalls(work)];
}

async function checkStreams(work: Work): Promise<Check> {
  const { team, deeds, followers } = work;
  const streams = new Map(
    await Promise.all([...deeds.keys()].map(async (id) => [id, await allEvents(team.gwen, id)] as const)),
  );
  const followed = await Promise.all(
    followers.map(async (follower) => [follower.executionId, await follower.finish()] as const),
  );
  return check(
    'every acknowledged deed is in its stream exactly once, and nobody who follows missed one',
    (found) => {
      let total = 0;
      for (const [id, events] of streams) {
        total += events.length;
        found.same(
          events.map(({ seq }) => seq),
          events.map((_, index) => index + 1),
          `the numbers of ${id}`,
        );
        for (const kind of kindsOfDeeds) {
          const times = events.filter((event) => event.kind === kind).length;
          found.same(times, deeds.get(id)?.get(kind) ?? 0, `how often ${id} was ${kind}`);
        }
      }
      for (const [id, seen] of followed) {
        found.same(
          seen,
          streams.get(id)?.map(({ seq }) => seq),
          `what was followed of ${id}`,
        );
      }
      return `${total} events of ${streams.size} executions, ${followed.length} followed`;
    },
  );
}

/** The tries of one call have one key, and one of them did it. */
async function checkAudit({ team, journal, processes, deeds }: Work): Promise<Check> {
  const audit = await allPages((cursor) => team.ana.api.audit.list({ limit: 200, ...from(cursor) }));
  const ofProcesses = [...processes.keys()];
  const entries = new Map<string, number>();
  for (const { requestId, outcome, operation, actor } of audit) {
    // The worker's own, such as that it noted the end of a lease.
    const isOurs = actor.kind !== 'system' && !operation.startsWith('operators.');
    if (outcome !== 'allowed' || !isOurs) continue;
    entries.set(requestId, (entries.get(requestId) ?? 0) + 1);
  }
  const calls = new Map<string, Call[]>();
  for (const call of journal.calls) {
    if (call.operation.effect !== 'write' || call.key === null || onlyAsks(call)) continue;
    calls.set(call.key, [...(calls.get(call.key) ?? []), call]);
  }
  return check('every acknowledged write happened once, however often it was sent', (found) => {
    const known = new Set<string>();
    let acknowledged = 0;
    for (const tries of calls.values()) {
      const isAcknowledged = tries.some(({ status }) => status === 200);
      if (isAcknowledged) acknowledged += 1;
      for (const { requestId } of tries) known.add(requestId);
      const times = tries.reduce((sum, { requestId }) => sum + (entries.get(requestId) ?? 0), 0);
      const name = `${tries[0]?.operation.name ?? ''} (${tries[0]?.requestId ?? ''})`;
      found.same(times, isAcknowledged ? 1 : 0, `the number of entries of ${name}`);
    }
    for (const requestId of entries.keys()) {
      const isOfProcess = ofProcesses.some((prefix) => requestId.startsWith(prefix));
      found.that(known.has(requestId) || isOfProcess, () => `nobody knows of the entry of ${requestId}`);
    }
    for (const [prefix, executionId] of processes) {
      const written = audit.filter(
        ({ requestId, operation }) =>
          requestId.startsWith(prefix) && operation === 'deliveryExecutions.checkpoint',
      ).length;
      const all = deeds.get(executionId)?.get('checkpointed') ?? 0;
      found.that(written > 0 && written <= all, () => `${written} of ${all} checkpoints are of ${prefix}`);
    }
    return `${acknowledged} writes, ${journal.calls.filter(({ replayed }) => replayed).length} heard again`;
  });
}

/** Without outages, no answer may be missing or be a fault; with them, each is tried again until there is an answer. */
function checkCalls({ journal, isFragile }: Work): readonly Check[] {
  if (!isFragile) return checkAnswers(journal.calls);
  return [
    check('no answer was a fault other than that Muster is away for now', (found) => {
      const failed = journal.calls.filter(({ status }) => status === null || status >= 500);
      for (const { requestId, operation, status, reason } of failed)
        found.that(
          status === null || status === 503,
          () => `${operation.name} (${requestId}): ${status ?? ''} ${reason ?? ''}`,
        );
      return tally(failed.map(({ status }) => (status === null ? 'no answer' : `${status}`)));
    }),
    checkRefusals(journal.calls),
  ];
}
