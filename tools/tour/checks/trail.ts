import { type ActivityItem } from '@muster/registry';
import { check, type Check } from '../check.ts';
import { type Findings, type StreamRow } from '../gather.ts';
import { type Call } from '../journal.ts';
import { keyOfItem, type Said, saidBy } from '../said.ts';
import { type Tour } from '../tour-state.ts';

/** What must hold of what the writes left behind. */
export function checkTrail({ journal, team }: Tour, findings: Findings): Check[] {
  const ours = journal.calls.filter(({ caller }) => caller !== team.neighbour);
  const said = saidBy(journal.writes());
  return [
    saidOnce(said, findings),
    inCommitOrder(said, findings),
    pagesAgree(findings),
    audited(journal.writes(), ours, team.operatorActs, findings),
  ];
}

function saidOnce(said: readonly Said[], { activity }: Findings): Check {
  return check('every acknowledged write is in the activity exactly once, and nothing else is', (found) => {
    const open = new Map<string, number>();
    for (const { key } of said) open.set(key, (open.get(key) ?? 0) + 1);
    for (const item of activity) {
      const key = keyOfItem(item);
      const left = open.get(key) ?? 0;
      if (left === 0) found.fail(`nobody knows of ${key} (${item.subject.key ?? item.subject.title})`);
      else open.set(key, left - 1);
    }
    for (const [key, missing] of open) {
      found.that(missing === 0, () => `${key} is missing${missing > 1 ? ` ${missing} times` : ''}`);
    }
    return `${said.length} events of ${new Set(said.map(({ call }) => call)).size} writes`;
  });
}

/** A write that was acknowledged before another was sent stands before it. */
function inCommitOrder(said: readonly Said[], { activity }: Findings): Check {
  return check(
    'the activity is in commit order: nothing stands before what was acknowledged earlier',
    (found) => {
      const waiting = new Map<string, Call[]>();
      for (const { key, call } of said.toSorted((a, b) => a.call.sentAt - b.call.sentAt)) {
        const calls = waiting.get(key) ?? [];
        waiting.set(key, calls);
        calls.push(call);
      }
      let latest: { call: Call; item: ActivityItem } | undefined;
      let compared = 0;
      for (const item of activity.toReversed()) {
        const call = waiting.get(keyOfItem(item))?.shift();
        if (call === undefined) continue;
        compared += 1;
        const before = latest;
        if (before !== undefined && call.answeredAt < before.call.sentAt) {
          found.fail(
            `${item.kind} ${item.id} stands after ${before.item.kind} ${before.item.id}, which was sent later`,
          );
        }
        if (before === undefined || call.sentAt > before.call.sentAt) latest = { call, item };
      }
      return `${compared} events by the clock of those who wrote`;
    },
  );
}

function pagesAgree({ activity, activityAgain, followed, activityRows, auditRows, audit }: Findings): Check {
  return check(
    'the streams have no gap, and pages show them newest first, also to one who follows',
    (found) => {
      const ids = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id);
      const sameOrder = (one: readonly string[], other: readonly string[], what: string): void => {
        const place = one.findIndex((id, index) => id !== other[index]);
        found.that(
          place === -1 && one.length === other.length,
          () => `${what}: ${one.length} and ${other.length} items, the first difference at ${place}`,
        );
      };
      sameOrder(ids(activity), ids(activityRows).reverse(), 'the activity and its table');
      sameOrder(ids(activity), ids(activityAgain), 'the activity by pages of 200 and of 77');
      sameOrder(ids(activity), ids(followed), 'the activity and what its follower saw');
      sameOrder(ids(audit), ids(auditRows).reverse(), 'the audit and its table');
      gapless(found, activityRows, 'the activity');
      gapless(found, auditRows, 'the audit');
      return `activity 1 to ${activityRows.length}, audit 1 to ${auditRows.length}, ${followed.length} followed`;
    },
  );
}

function gapless(found: Check, rows: readonly StreamRow[], what: string): void {
  const gap = rows.findIndex(({ seq }, index) => seq !== index + 1);
  found.that(gap === -1, () => `${what} has ${rows[gap]?.seq ?? ''} where ${gap + 1} should be`);
}

export function audited(
  writes: readonly Call[],
  calls: readonly Call[],
  operatorActs: number,
  { audit }: Pick<Findings, 'audit'>,
  whose = 'the audit',
): Check {
  return check(`${whose} has one entry for every write, and for the refusals that are sensitive`, (found) => {
    const denied = calls.filter(({ status, operation }) => status === 403 && operation.auditsRefusal);
    const wanted = new Map(
      [
        ...writes.map((call) => [call, 'allowed'] as const),
        ...denied.map((call) => [call, 'denied'] as const),
      ].map(([call, outcome]) => [call.requestId, { call, outcome, seen: 0 }]),
    );
    let byOperators = 0;
    for (const { requestId, operation, outcome, actor, tokenId } of audit) {
      if (operation.startsWith('operators.')) {
        byOperators += 1;
        continue;
      }
      const entry = wanted.get(requestId);
      if (entry === undefined) {
        found.fail(`nobody knows of the entry of ${operation} (${requestId})`);
        continue;
      }
      entry.seen += 1;
      const { call } = entry;
      found.same([operation, outcome], [call.operation.name, entry.outcome], `the entry of ${requestId}`);
      found.same(
        [actor.memberId, actor.agentId],
        [call.caller.memberId, call.caller.agentId],
        `the actor of ${requestId}`,
      );
      found.that(tokenId !== null, () => `the entry of ${requestId} names no token`);
    }
    for (const [requestId, { call, seen }] of wanted) {
      found.that(seen === 1, () => `${call.operation.name} (${requestId}) has ${seen} entries`);
    }
    found.same(byOperators, operatorActs, 'the number of entries of the operators');
    return `${writes.length} writes, ${denied.length} refusals, ${byOperators} acts of operators`;
  });
}
