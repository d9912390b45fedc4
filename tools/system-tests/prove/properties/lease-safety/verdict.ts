/**
 * Checks the rules for everything that the holders did. It compares their answers with the final state of the
 * database.
 */
import { type Pool } from '@muster/driver';
import { type Deed } from './holders.ts';

/** An event in the streams of a unit's executions, in the order of the executions. */
interface Told {
  readonly unitId: string;
  readonly executionId: string;
  readonly seq: number;
  readonly kind: string;
  readonly data: Record<string, unknown>;
  /** The time by the database's clock. */
  readonly at: string;
}

interface Granted {
  readonly unitId: string;
  readonly epoch: number;
  readonly runId: string;
  readonly at: string;
  /** Is true if a lead took the unit from a holder whose lease had not expired. */
  readonly tookOver: boolean;
  /** The time at which the holder gave the unit back. */
  endedAt: string | null;
}

export interface SafetyVerdict {
  readonly violations: readonly string[];
  readonly grants: number;
  readonly effects: number;
  /** The number of calls that happened although no answer came. */
  readonly unknownButDone: number;
}

/** The units that exclude each unit, by its id. */
export type Rivals = ReadonlyMap<string, readonly string[]>;

export async function judge(
  owner: Pool,
  orgId: string,
  history: readonly Deed[],
  rivals: Rivals,
): Promise<SafetyVerdict> {
  const { rows: events } = await owner.query<Told>(
    `select e.target_id as "unitId", e.id as "executionId", v.seq, v.kind, v.data,
       to_char(v.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
     from execution_events v join executions e on e.org_id = v.org_id and e.id = v.execution_id
     where v.org_id = $1 order by e.target_id, e.id, v.seq`,
    [orgId],
  );
  const { rows: leases } = await owner.query<{ unitId: string; epoch: number }>(
    `select unit_id as "unitId", epoch from leases where org_id = $1`,
    [orgId],
  );
  const violations: string[] = [];
  const { grants, stale } = followStreams(events);
  violations.push(...stale, ...gaps(events), ...grantedTwice(grants, history, leases));
  const written = checkpointsIn(events);
  violations.push(...missingOrDoubled(written, history));
  const view: View = { grants, history, rivals };
  violations.push(...acknowledgedTooLate(view), ...grantedTooEarly(view));
  const unknown = history.filter(({ outcome, summary }) => outcome === 'unknown' && summary !== null);
  return {
    violations,
    grants: [...grants.values()].flat().length,
    effects: written.size,
    unknownButDone: unknown.filter(({ summary }) => written.has(summary ?? '')).length,
  };
}

/** Lists the grants of each unit in order, and the effects of holders whose grant was not the newest. */
function followStreams(events: readonly Told[]): { grants: Map<string, Granted[]>; stale: string[] } {
  const grants = new Map<string, Granted[]>();
  const stale: string[] = [];
  let tookOver = false;
  for (const { unitId, kind, data, at } of events) {
    const ofUnit = grants.get(unitId) ?? [];
    grants.set(unitId, ofUnit);
    const newest = ofUnit.at(-1);
    if (kind === 'taken_over') tookOver = data['live'] === true;
    if (kind === 'acquired') {
      const [epoch, runId] = [Number(data['epoch']), String(data['runId'])];
      ofUnit.push({ unitId, epoch, runId, at, tookOver, endedAt: null });
      tookOver = false;
    }
    if (newest === undefined) continue;
    if (kind === 'released' || kind === 'completed') {
      if (newest.endedAt !== null) stale.push(`${unitId}: ${kind} though nobody held it`);
      newest.endedAt = at;
    }
    if (kind !== 'checkpointed') continue;
    const [runId] = String(data['summary']).split(' ');
    if (runId !== newest.runId || newest.endedAt !== null)
      stale.push(`${unitId}: stale effect, a checkpoint of ${runId ?? ''} under epoch ${newest.epoch}`);
  }
  return { grants, stale };
}

function gaps(events: readonly Told[]): string[] {
  return events
    .filter(({ executionId, seq }, index) => {
      const before = events[index - 1];
      return seq !== (before?.executionId === executionId ? before.seq + 1 : 1);
    })
    .map(({ executionId, seq }) => `${executionId}: the events have a gap before ${seq}`);
}

function grantedTwice(
  grants: ReadonlyMap<string, readonly Granted[]>,
  history: readonly Deed[],
  leases: readonly { readonly unitId: string; readonly epoch: number }[],
): string[] {
  const wrong: string[] = [];
  for (const [unitId, ofUnit] of grants) {
    for (const [index, { epoch }] of ofUnit.entries()) {
      if (epoch !== index + 1) wrong.push(`${unitId}: epoch ${epoch} was granted as number ${index + 1}`);
    }
    const row = leases.find((lease) => lease.unitId === unitId);
    if (row?.epoch !== ofUnit.length)
      wrong.push(`${unitId}: the lease is at epoch ${row?.epoch ?? 'none'} after ${ofUnit.length} grants`);
  }
  for (const { name, outcome, unitId, epoch, runId } of history) {
    if (name !== 'acquire' || outcome !== 'acknowledged') continue;
    const grant = grants.get(unitId)?.find((one) => one.epoch === epoch);
    if (grant?.runId !== runId) wrong.push(`${unitId}: epoch ${epoch} was granted to two, or to nobody`);
  }
  return wrong;
}

/** Counts the checkpoints in the streams, by summary. */
function checkpointsIn(events: readonly Told[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, data } of events) {
    if (kind !== 'checkpointed') continue;
    const summary = String(data['summary']);
    counts.set(summary, (counts.get(summary) ?? 0) + 1);
  }
  return counts;
}

function missingOrDoubled(written: ReadonlyMap<string, number>, history: readonly Deed[]): string[] {
  const allowed = { acknowledged: [1], undone: [0], unknown: [0, 1] } as const;
  return history.flatMap(({ summary, outcome }) => {
    if (summary === null) return [];
    const times = written.get(summary) ?? 0;
    const fits = (allowed[outcome] as readonly number[]).includes(times);
    return fits ? [] : [`${summary}: ${outcome}, and in the stream ${times} times`];
  });
}

interface View {
  readonly grants: ReadonlyMap<string, readonly Granted[]>;
  readonly history: readonly Deed[];
  readonly rivals: Rivals;
}

const keyOf = (unitId: string, epoch: number): string => `${unitId} ${epoch}`;

/**
 * Reports calls that were acknowledged although they began after another caller had received a newer grant.
 */
function acknowledgedTooLate({ grants, history, rivals }: View): string[] {
  const acknowledged = history.filter(({ outcome }) => outcome === 'acknowledged');
  const toldAt = new Map(
    acknowledged
      .filter(({ name }) => name === 'acquire')
      .map(({ unitId, epoch, endedAt }) => [keyOf(unitId, epoch), endedAt]),
  );
  return acknowledged.flatMap((deed) => {
    const own = grants.get(deed.unitId)?.find(({ epoch }) => epoch === deed.epoch);
    if (own === undefined) return [];
    const newer = [deed.unitId, ...(rivals.get(deed.unitId) ?? [])]
      .flatMap((unitId) => grants.get(unitId) ?? [])
      .filter((grant) => grant !== own && grant.at > own.at)
      .filter((grant) => grant.unitId !== own.unitId || grant.epoch > own.epoch)
      .find(({ unitId, epoch }) => (toldAt.get(keyOf(unitId, epoch)) ?? Infinity) < deed.begunAt);
    if (newer === undefined || isRepeated(deed, history)) return [];
    return [`${deed.unitId}: ${deed.name} of epoch ${deed.epoch} was acknowledged after a newer grant`];
  });
}

/**
 * Returns true for a repeated release or completion, which may come at any time. The repeated call gets the
 * first answer again and changes nothing.
 */
const isRepeated = (deed: Deed, history: readonly Deed[]): boolean =>
  (deed.name === 'release' || deed.name === 'complete') &&
  history.some(
    ({ name, unitId, epoch, begunAt, outcome }) =>
      name === deed.name &&
      unitId === deed.unitId &&
      epoch === deed.epoch &&
      begunAt < deed.begunAt &&
      outcome !== 'undone',
  );

/**
 * Reports grants that were made before another holder's lease ended, although that holder had not given the
 * unit back.
 */
function grantedTooEarly({ grants, history, rivals }: View): string[] {
  const promised = new Map<string, string>();
  for (const { unitId, epoch, expiresAt, outcome } of history) {
    if (outcome !== 'acknowledged' || expiresAt === null) continue;
    const key = keyOf(unitId, epoch);
    const before = promised.get(key) ?? '';
    promised.set(key, before > expiresAt ? before : expiresAt);
  }
  return [...grants.values()].flat().flatMap((grant) => {
    const inTheWay = [grant.unitId, ...(rivals.get(grant.unitId) ?? [])].flatMap((unitId) => {
      // The relevant grant of the unit itself is the previous one. The relevant grant of a rival unit is its
      // newest one at the time of this grant.
      const before = (grants.get(unitId) ?? []).filter((one) =>
        unitId === grant.unitId ? one.epoch < grant.epoch : one.at <= grant.at,
      );
      return before.at(-1) ?? [];
    });
    return inTheWay
      .filter((one) => !(grant.tookOver && one.unitId === grant.unitId))
      .filter(({ endedAt }) => endedAt === null || endedAt > grant.at)
      .filter((one) => (promised.get(keyOf(one.unitId, one.epoch)) ?? '') > grant.at)
      .map(
        (one) =>
          `${grant.unitId}: granted at ${grant.at}, though ${one.unitId} was promised until ${promised.get(keyOf(one.unitId, one.epoch)) ?? ''}`,
      );
  });
}
